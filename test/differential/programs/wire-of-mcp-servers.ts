import { createSdkMcpServer, type McpSdkServerConfigWithInstance, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { z } from "zod"
import { attempt, basics, fake, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A fake CLI tells what it is told of servers in the program: with `initialize`, again, and when they are replaced. */
export async function run(): Promise<void> {
  const greet = tool("greet", "Greets", { name: z.string() }, async () => ({ content: [] }), {
    annotations: { readOnlyHint: true },
    searchHint: "hello",
  })
  const made = (name: string, more: { timeout?: number; instructions?: string } = {}) =>
    createSdkMcpServer({ name, version: "2.0.0", tools: [greet], ...more })
  const withPolicy: McpSdkServerConfigWithInstance = {
    ...made("inner"),
    timeout: 7_000,
    tools: [{ name: "greet", permission_policy: "always_ask" }],
  }
  const prompts = new Prompts()
  const running = query({
    prompt: prompts,
    options: {
      ...basics(),
      pathToClaudeCodeExecutable: fake("tells-what-it-gets"),
      mcpServers: {
        plain: made("plain", { instructions: "Use it." }),
        slow: made("slow", { timeout: 5_000 }),
        policy: withPolicy,
        empty: createSdkMcpServer({ name: "empty" }),
        outside: { command: "x", args: ["y"] },
      },
    },
  })
  const watching = watch(running)
  await attempt("initialized", () => running.initializationResult())
  await attempt("again", () => running.reinitialize())
  await attempt("replaced", () =>
    running.setMcpServers({ other: { ...made("inner"), timeout: 3_000 }, outside: { command: "z" } }),
  )
  prompts.push(user("that was all"))
  prompts.end()
  await watching
}
