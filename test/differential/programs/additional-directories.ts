import { mkdirSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, watch } from "../program-context.ts"

export const scenario = {
  turns: [{ steps: [{ tool: "Bash", input: { command: "ls ../other" } }, { say: "Seen." }] }],
}

export async function run(): Promise<void> {
  const other = `${context().cwd}/../other`
  mkdirSync(other)
  await watch(
    query({ prompt: "look", options: { ...basics(), additionalDirectories: [other], allowedTools: ["Bash"] } }),
  )
}
