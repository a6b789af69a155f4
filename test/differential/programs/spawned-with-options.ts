import { spawn } from "node:child_process"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }

/** What a program's own spawner is told, and that its process is the one that is used. */
export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "hello",
      options: {
        ...basics(),
        pathToClaudeCodeExecutable: fake("tells-what-it-gets"),
        executable: "node",
        executableArgs: ["--no-deprecation"],
        env: { PATH: process.env["PATH"], ONLY: "this" },
        model: "some-model",
        extraArgs: { settings: '{"a":1}', other: "x" },
        sandbox: { enabled: true },
        allowedTools: ["Read"],
        spawnClaudeCodeProcess: ({ command, args, cwd, env }) => {
          observe("spawn", { command, args, cwd, env: Object.keys(env).sort() })
          return spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"] })
        },
      },
    }),
  )
}
