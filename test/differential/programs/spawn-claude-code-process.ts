import { spawn } from "node:child_process"
import { query, type SpawnOptions } from "@anthropic-ai/claude-agent-sdk"
import { basics, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }

export async function run(): Promise<void> {
  const spawnClaudeCodeProcess = ({ command, args, cwd, env, signal }: SpawnOptions) => {
    observe("spawn", { command, args, cwd, signal: signal instanceof AbortSignal })
    return spawn(command, args, { cwd, env, signal, stdio: ["pipe", "pipe", "ignore"] })
  }
  await watch(query({ prompt: "hello", options: { ...basics(), spawnClaudeCodeProcess } }))
}
