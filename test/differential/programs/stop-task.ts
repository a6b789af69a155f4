import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    {
      on: "start",
      steps: [{ tool: "Bash", input: { command: "sleep 30", run_in_background: true } }, { say: "Started." }],
    },
    { repeat: true, steps: [{ say: "It was stopped." }] },
  ],
}

export async function run(): Promise<void> {
  const prompts = new Prompts(user("start it"))
  const running = query({ prompt: prompts, options: { ...basics(), allowedTools: ["Bash"] } })
  let task = ""
  let stopped = false
  await watch(running, async (message) => {
    if (message.type === "system" && message.subtype === "task_started") task = message.task_id
    if (message.type !== "result" || stopped) return
    stopped = true
    await attempt("stopTask", () => running.stopTask(task))
    prompts.end()
  })
}
