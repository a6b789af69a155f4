import { existsSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Off the record." }] }] }

export async function run(): Promise<void> {
  let session = ""
  await watch(query({ prompt: "hello", options: { ...basics(), persistSession: false } }), (message) => {
    if (message.type === "result") session = message.session_id
  })
  const folder = context().cwd.replaceAll(/[^a-zA-Z0-9]/g, "-")
  observe("transcript", existsSync(`${context().home}/.claude/projects/${folder}/${session}.jsonl`))
}
