import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { z } from "zod"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "mcp__sums__add", id: "toolu_add", input: { a: 2, b: 3 } }, { say: "Five." }] }],
}

export async function run(): Promise<void> {
  const add = tool(
    "add",
    "Adds two numbers",
    { a: z.number(), b: z.number().describe("the other") },
    async ({ a, b }) => {
      observe("tool", { a, b })
      return { content: [{ type: "text", text: String(a + b) }] }
    },
  )
  const sums = createSdkMcpServer({ name: "sums", version: "1.2.3", tools: [add] })
  observe("server", { type: sums.type, name: sums.name, keys: Object.keys(sums) })
  await watch(
    query({ prompt: "add", options: { ...basics(), mcpServers: { sums }, allowedTools: ["mcp__sums__add"] } }),
  )
}
