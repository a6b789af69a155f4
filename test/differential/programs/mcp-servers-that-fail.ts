import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Without them." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts(user("go on"))
  const mcpServers = {
    absent: { command: "/nowhere/server" },
    closed: { type: "http" as const, url: "http://127.0.0.1:9/mcp" },
  }
  const running = query({ prompt: prompts, options: { ...basics(), mcpServers, strictMcpConfig: true } })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    await attempt("mcpServerStatus", async () =>
      (await running.mcpServerStatus())
        .map(({ name, status }) => ({ name, status }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    )
    prompts.end()
  })
}
