import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { basics, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "mcp__weak__break", input: {} },
        { tool: "mcp__weak__complain", input: {} },
        { say: "It broke." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  const weak = createSdkMcpServer({
    name: "weak",
    tools: [
      tool("break", "Breaks", {}, async () => {
        throw new Error("broken to pieces")
      }),
      tool("complain", "Complains", {}, async () => ({ content: [{ type: "text", text: "no" }], isError: true })),
    ],
  })
  const allowedTools = ["mcp__weak__break", "mcp__weak__complain"]
  await watch(query({ prompt: "break it", options: { ...basics(), mcpServers: { weak }, allowedTools } }))
}
