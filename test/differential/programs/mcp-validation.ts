import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { z } from "zod"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      steps: [
        { tool: "mcp__sums__double", input: { a: "two" } },
        { tool: "mcp__sums__double", input: { a: 2 } },
        { say: "Four." },
      ],
    },
  ],
}

export async function run(): Promise<void> {
  const schema = {
    a: z.number().int().min(1),
    unit: z.enum(["cm", "m"]).optional(),
    tags: z.array(z.string()).default([]),
  }
  const double = tool("double", "Doubles", schema, async (input) => {
    observe("tool", input)
    return { content: [{ type: "text", text: String(input.a * 2) }] }
  })
  const sums = createSdkMcpServer({ name: "sums", tools: [double] })
  await watch(query({ prompt: "double", options: { ...basics(), mcpServers: { sums }, allowedTools: ["mcp__sums"] } }))
}
