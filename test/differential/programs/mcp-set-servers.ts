import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, observe, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "before", steps: [{ say: "None yet." }] },
    { on: "after", steps: [{ tool: "mcp__late__ping", input: {} }, { say: "Pong." }] },
  ],
}

export async function run(): Promise<void> {
  const ping = tool("ping", "Pings", {}, async () => {
    observe("tool", "ping")
    return { content: [{ type: "text", text: "pong" }] }
  })
  const late = createSdkMcpServer({ name: "late", version: "1.0.0", tools: [ping] })
  const prompts = new Prompts(user("before"))
  let results = 0
  const running = query({ prompt: prompts, options: { ...basics(), allowedTools: ["mcp__late__ping"] } })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    if (++results === 1) {
      await attempt("setMcpServers", () => running.setMcpServers({ late }))
      await attempt("mcpServerStatus", () => running.mcpServerStatus())
      prompts.push(user("after"))
      return
    }
    await attempt("setMcpServers to none", () => running.setMcpServers({}))
    await attempt("mcpServerStatus", () => running.mcpServerStatus())
    prompts.end()
  })
}
