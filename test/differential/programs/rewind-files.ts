import { existsSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, context, observe, Prompts, user, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Write", input: { file_path: "made.txt", content: "new" } }, { say: "Made." }] }],
}

const FIRST = "d1ff0000-0000-4000-8000-000000000001"

export async function run(): Promise<void> {
  const file = `${context().cwd}/made.txt`
  const prompts = new Prompts(user("make it", { uuid: FIRST }))
  const options = { ...basics(), permissionMode: "acceptEdits" as const, enableFileCheckpointing: true }
  const running = query({ prompt: prompts, options })
  await watch(running, async (message) => {
    if (message.type !== "result") return
    observe("file", existsSync(file))
    await attempt("dry run", () => running.rewindFiles(FIRST, { dryRun: true }))
    await attempt("rewindFiles", () => running.rewindFiles(FIRST))
    observe("file", existsSync(file))
    await attempt("unknown message", () => running.rewindFiles("d1ff0000-0000-4000-8000-0000000000ff"))
    prompts.end()
  })
}
