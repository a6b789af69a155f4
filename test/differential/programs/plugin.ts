import { mkdirSync, writeFileSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Greeted." }] }] }

/** A plugin of the program's own, with a command. */
export async function run(): Promise<void> {
  const path = `${context().cwd}/plugin`
  mkdirSync(`${path}/.claude-plugin`, { recursive: true })
  mkdirSync(`${path}/commands`)
  writeFileSync(`${path}/.claude-plugin/plugin.json`, JSON.stringify({ name: "greeter", version: "1.0.0" }))
  writeFileSync(`${path}/commands/greet.md`, "---\ndescription: Greets\n---\nGreet $ARGUMENTS warmly.")
  await watch(query({ prompt: "/greeter:greet Ada", options: { ...basics(), plugins: [{ type: "local", path }] } }))
}
