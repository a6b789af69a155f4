import { writeFileSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "echo hi" } }, { say: "Said." }] }] }

/** A hook of the settings, a shell command: the CLI tells of its start and end. */
export async function run(): Promise<void> {
  const file = `${context().cwd}/settings.json`
  const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "echo from the shell" }] }] }
  writeFileSync(file, JSON.stringify({ hooks }))
  const options = { ...basics(), allowedTools: ["Bash"], includeHookEvents: true, settings: file }
  await watch(query({ prompt: "say it", options }))
}
