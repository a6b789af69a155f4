import { AbortError, createSdkMcpServer, EXIT_REASONS, HOOK_EVENTS, tool } from "@anthropic-ai/claude-agent-sdk"
import { observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

export async function run(): Promise<void> {
  observe("events", [...HOOK_EVENTS].sort())
  observe("reasons", [...EXIT_REASONS].sort())
  const error = new AbortError("why")
  observe("abort", { message: error.message, isError: error instanceof Error })
  const made = tool("t", "a tool", {}, async () => ({ content: [] }))
  observe("tool", { name: made.name, description: made.description, keys: Object.keys(made).sort() })
  const server = createSdkMcpServer({ name: "s", tools: [made] })
  observe("server", { type: server.type, name: server.name, connects: typeof server.instance.connect })
}
