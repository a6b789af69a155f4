import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A program's own spawner that throws: whoever calls `query` is told at once. A type of plugin nobody knows, as well. */
export async function run(): Promise<void> {
  const spawnClaudeCodeProcess = () => {
    throw new Error("no room for another process")
  }
  await attempt("query", () => watch(query({ prompt: "hello", options: { ...basics(), spawnClaudeCodeProcess } })))
  // What a program in JavaScript may pass.
  const plugins = [{ type: "remote" as "local", path: "/p" }]
  await attempt("plugins", () => watch(query({ prompt: "hello", options: { ...basics(), plugins } })))
}
