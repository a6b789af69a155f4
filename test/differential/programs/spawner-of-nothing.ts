import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A spawner that gives back no process: the mistake is told by `query()` itself. */
export async function run(): Promise<void> {
  for (const given of [undefined, Promise.resolve(undefined)]) {
    const spawner: object = { spawnClaudeCodeProcess: () => given }
    try {
      query({ prompt: "hello", options: { ...basics(), ...spawner } })
      observe("query", "returned")
    } catch (error) {
      observe("query", error instanceof Error ? error.name : error)
    }
  }
}
