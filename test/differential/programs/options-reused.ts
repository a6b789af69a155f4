import { createSdkMcpServer, type Options, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const server = (name: string) => ({
  [`${name}-inside`]: createSdkMcpServer({ name, tools: [tool(name, name, {}, async () => ({ content: [] }))] }),
  [`${name}-outside`]: { command: name, args: [name], env: { TENANT: name } },
})

/** One object for two tenants: what the first query was given must stay its own, however the object changes afterwards. */
export async function run(): Promise<void> {
  const options: Options = {
    ...basics(),
    pathToClaudeCodeExecutable: fake("tells-what-it-gets"),
    env: { PATH: process.env["PATH"], CLAUDE_TENANT: "first" },
    mcpServers: server("first"),
    agents: { first: { description: "first", prompt: "first", tools: ["first"] } },
    allowedTools: ["first"],
    disallowedTools: ["first"],
    additionalDirectories: ["/first"],
    hooks: { Stop: [{ hooks: [async () => ({})], timeout: 1 }] },
    systemPrompt: { type: "preset", preset: "claude_code", append: "first" },
    outputFormat: { type: "json_schema", schema: { type: "object", title: "first" } },
    settings: { model: "first", permissions: { allow: ["first"] } },
    extraArgs: { first: "1" },
    toolAliases: { first: "first" },
    plugins: [{ type: "local", path: "/first" }],
    pluginDelivery: "initialize",
    title: "first",
  }
  const first = query({ prompt: [user("first")] as unknown as AsyncIterable<never>, options })
  change(options)
  const second = query({ prompt: "second", options })
  await watch(first)
  await watch(second)
}

/** Changes the very objects that the first query was given, and puts others in their places. */
function change(options: Options): void {
  const { mcpServers = {}, agents = {}, hooks = {}, settings, outputFormat, systemPrompt } = options
  for (const record of [mcpServers, agents, hooks, options.extraArgs ?? {}, options.toolAliases ?? {}])
    for (const name of Object.keys(record)) Reflect.deleteProperty(record, name)
  Object.assign(mcpServers, server("second"))
  Object.assign(agents, { second: { description: "second", prompt: "second" } })
  Object.assign(hooks, { SessionStart: [{ hooks: [async () => ({})], timeout: 2 }] })
  for (const list of [options.allowedTools, options.disallowedTools, options.additionalDirectories])
    list?.splice(0, 1, "/second")
  Object.assign(options.env ?? {}, { CLAUDE_TENANT: "second" })
  if (typeof settings === "object") Object.assign(settings, { model: "second", permissions: { allow: ["second"] } })
  Object.assign(outputFormat?.schema ?? {}, { title: "second" })
  Object.assign(systemPrompt ?? {}, { append: "second" })
  Object.assign(options.plugins?.[0] ?? {}, { path: "/second" })
  options.title = "second"
}
