import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "One." }] }] }

export async function run(): Promise<void> {
  const prompts = new Prompts(user("one"))
  const running = query({ prompt: prompts, options: basics() })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    await attempt("applyFlagSettings", () => running.applyFlagSettings({ cleanupPeriodDays: 7 }))
    await attempt("reloadSkills", async () => Object.keys(await running.reloadSkills()))
    await attempt("reloadPlugins", async () => Object.keys(await running.reloadPlugins()).sort())
    await attempt("reloadOutputStyles", () => running.reloadOutputStyles())
    await attempt("readMcpResource", () => running.readMcpResource("none", "x://y"))
    await attempt("stopTask", () => running.stopTask("none"))
    await attempt("backgroundTasks", () => running.backgroundTasks())
    prompts.end()
  })
}
