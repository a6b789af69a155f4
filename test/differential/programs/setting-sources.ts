import { mkdirSync, writeFileSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Done." }] }] }

/** The project's file denies the tool; it counts only where project settings are read. */
export async function run(): Promise<void> {
  const { cwd } = context()
  mkdirSync(`${cwd}/.claude`)
  writeFileSync(`${cwd}/.claude/settings.json`, JSON.stringify({ permissions: { deny: ["Bash"] } }))
  writeFileSync(`${cwd}/CLAUDE.md`, "Always be brief.")
  const options = { ...basics(), allowedTools: ["Bash"] }
  await watch(query({ prompt: "try", options: { ...options, settingSources: ["project"] } }))
  await watch(query({ prompt: "try", options: { ...options, settingSources: [] } }))
}
