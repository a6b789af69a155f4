import { mkdirSync, writeFileSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Skill", input: { skill: "greeting" } }, { say: "Hello." }] }] }

export async function run(): Promise<void> {
  const folder = `${context().cwd}/.claude/skills/greeting`
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/SKILL.md`, "---\nname: greeting\ndescription: How to greet\n---\nSay hello.")
  await watch(query({ prompt: "greet", options: { ...basics(), skills: ["greeting"], settingSources: ["project"] } }))
}
