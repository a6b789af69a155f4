import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, described, fake, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "accept", steps: [{ tool: "mcp__echo__ask", input: {} }, { say: "Known." }] },
    { on: "decline", steps: [{ tool: "mcp__echo__ask", input: {} }, { say: "Not known." }] },
  ],
}

export async function run(): Promise<void> {
  const mcpServers = { echo: { type: "stdio" as const, command: process.execPath, args: [fake("stdio-mcp")] } }
  const options = { ...basics(), mcpServers, allowedTools: ["mcp__echo__ask"] }
  await watch(
    query({
      prompt: "accept",
      options: {
        ...options,
        onElicitation: async (request, extra) => {
          observe("elicitation", { request, extra: described(extra) })
          return { action: "accept", content: { name: "Ada" } }
        },
      },
    }),
  )
  // Without a handler it is declined.
  await watch(query({ prompt: "decline", options }))
}
