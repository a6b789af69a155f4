import { createSdkMcpServer, type Options, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** What a program leaves out by a condition is there by its name, without a value. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  const hook = async () => ({})
  const hooks: Record<string, unknown> = { Stop: undefined, PreToolUse: [{ hooks: [hook] }], PostToolUse: null }
  // Named, and without the server itself: left to the agent.
  const named = { type: "sdk", name: "n", instance: null }
  const sets: object[] = [
    { hooks },
    { hooks: { Stop: undefined } },
    { hooks: { Stop: [{ hooks: [hook], matcher: undefined, timeout: undefined }] } },
    { hooks: { Stop: [{ hooks: [hook], onFailure: null }] } },
    { mcpServers: { named } },
    { mcpServers: { named, own: createSdkMcpServer({ name: "own", timeout: -1 }) } },
    { agents: undefined, env: undefined, mcpServers: undefined, plugins: undefined, systemPrompt: undefined },
  ]
  for (const set of sets) await watch(query({ prompt: "hello", options: { ...options, ...set } satisfies Options }))
}
