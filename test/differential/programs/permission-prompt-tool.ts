import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { z } from "zod"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Made." }] }] }

/** An MCP tool in the place of the callback. */
export async function run(): Promise<void> {
  const schema = { tool_name: z.string(), input: z.record(z.string(), z.unknown()), tool_use_id: z.string().optional() }
  const ask = tool("ask", "Asks for a permission", schema, async ({ tool_name, input }) => {
    observe("tool", { tool_name, input })
    return { content: [{ type: "text", text: JSON.stringify({ behavior: "allow", updatedInput: input }) }] }
  })
  const desk = createSdkMcpServer({ name: "desk", version: "1.0.0", tools: [ask] })
  const options = { ...basics(), mcpServers: { desk }, permissionPromptToolName: "mcp__desk__ask" }
  await watch(query({ prompt: "make it", options }))
}
