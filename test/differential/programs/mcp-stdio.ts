import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "mcp__echo__echo", input: { text: "hi" } }, { say: "Hi." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts(user("echo"))
  const mcpServers = { echo: { type: "stdio" as const, command: process.execPath, args: [fake("stdio-mcp")] } }
  const running = query({ prompt: prompts, options: { ...basics(), mcpServers, allowedTools: ["mcp__echo__echo"] } })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    await attempt("mcpServerStatus", () => running.mcpServerStatus())
    await attempt("toggleMcpServer", () => running.toggleMcpServer("echo", false))
    await attempt("mcpServerStatus", () => running.mcpServerStatus())
    await attempt("reconnectMcpServer", () => running.reconnectMcpServer("no such"))
    prompts.end()
  })
}
