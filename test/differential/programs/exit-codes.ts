import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A process that ends with and without an error code: before a word, in mid-turn, and after its result. */
export async function run(): Promise<void> {
  const failed = { type: "result", subtype: "success", is_error: true, result: "It broke.", num_turns: 1, usage: {} }
  const errors = { ...failed, subtype: "error_during_execution", result: undefined, errors: ["one", "two"] }
  const runs: { steps: object[]; code: number }[] = [
    { steps: [{ exit: 0 }], code: 0 },
    { steps: [{ stderr: "no\n" }, { exit: 3 }], code: 0 },
    { steps: [{ until: "user" }, { exit: 0 }], code: 0 },
    { steps: [{ until: "user" }, { stderr: "worse\n" }, { exit: 1 }], code: 0 },
    { steps: [{ until: "user" }, { result: "Fine." }], code: 0 },
    { steps: [{ until: "user" }, { result: "Fine." }], code: 1 },
    { steps: [{ until: "user" }, { say: failed }], code: 0 },
    { steps: [{ until: "user" }, { say: failed }], code: 1 },
    { steps: [{ until: "user" }, { say: errors }], code: 1 },
    { steps: [{ until: "user" }, { say: failed }, { result: "Mended." }], code: 1 },
  ]
  for (const { steps, code } of runs) {
    const env = { PATH: process.env["PATH"], STEPS: JSON.stringify(steps), EXIT_CODE: String(code) }
    await watch(
      query({ prompt: "hello", options: { ...basics(), pathToClaudeCodeExecutable: fake("follows-steps"), env } }),
    )
  }
}
