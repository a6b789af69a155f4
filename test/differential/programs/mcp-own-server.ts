import { query } from "@anthropic-ai/claude-agent-sdk"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "mcp__mine__hello", input: {} }, { say: "Hello." }] }] }

/** A server the program made itself, with the MCP library. */
export async function run(): Promise<void> {
  const instance = new McpServer({ name: "mine", version: "0.0.1" })
  instance.registerTool("hello", { description: "Says hello" }, async () => {
    observe("tool", "called")
    return { content: [{ type: "text", text: "hello" }] }
  })
  const mcpServers = { mine: { type: "sdk" as const, name: "mine", instance } }
  await watch(query({ prompt: "greet", options: { ...basics(), mcpServers, allowedTools: ["mcp__mine__hello"] } }))
}
