import { type Query, query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, gate, Prompts, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const HERE = [{ say: { type: "told", here: true } }]
const calls: Record<string, (running: Query) => Promise<unknown>> = {
  setModel: (running) => running.setModel("m"),
  initializationResult: (running) => running.initializationResult(),
}
const ways: Record<string, { steps: object[]; end: (running: Query, abort: () => void) => unknown }> = {
  closed: { steps: HERE, end: (running) => running.close() },
  aborted: { steps: HERE, end: (_running, abort) => abort() },
  died: { steps: [...HERE, { exit: 2 }], end: () => undefined },
}

/** Calls that wait for their answer when the query is closed or aborted, or its process dies. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("follows-steps") }
  for (const [way, { steps, end }] of Object.entries(ways)) {
    for (const [name, call] of Object.entries(calls)) {
      const abortController = new AbortController()
      const env = { PATH: process.env["PATH"], STEPS: JSON.stringify(steps), MUTE: "1" }
      const running = query({ prompt: new Prompts(), options: { ...options, abortController, env } })
      const here = gate()
      const waiting = attempt(`${way}: ${name}`, () => call(running))
      const watching = watch(running, () => here.open())
      await here.opened
      end(running, () => abortController.abort())
      await waiting
      await watching
    }
  }
}
