import { mkdirSync, writeFileSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Done." }] }] }

export async function run(): Promise<void> {
  const { cwd } = context()
  mkdirSync(`${cwd}/.claude`)
  writeFileSync(`${cwd}/.claude/settings.json`, JSON.stringify({ permissions: { deny: ["Bash"] } }))
  await watch(query({ prompt: "try", options: { ...basics(), allowedTools: ["Bash"] } }))
}
