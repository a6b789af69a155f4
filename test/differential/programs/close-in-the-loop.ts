import { setTimeout as delay } from "node:timers/promises"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const message = JSON.stringify({ type: "assistant", message: { role: "assistant", content: [] } })
const STEPS = [{ until: "user" }, { raw: `${message}\n`.repeat(5) }, { result: "Done." }]

/** What a loop still sees after it has closed its query: nothing that came along, everything that had come before. */
export async function run(): Promise<void> {
  const options = {
    ...basics(),
    pathToClaudeCodeExecutable: fake("follows-steps"),
    env: { ...process.env, STEPS: JSON.stringify(STEPS) },
  }
  for (const pauseMs of [0, 500]) {
    const running = query({ prompt: "go", options })
    let seen = ""
    for await (const { type } of running) {
      seen += type.at(0)
      if (pauseMs > 0) await delay(pauseMs)
      running.close()
    }
    observe("seen", { pauseMs, seen, next: await running.next() })
  }
}
