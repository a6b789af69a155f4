import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** What a program without types may pass, and what becomes of it; and plugins with and without their servers. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  const sets: object[] = [
    { maxTurns: Number.NaN },
    { maxTurns: "3" },
    { maxBudgetUsd: "0.5" },
    { extraArgs: { a: "", b: null, c: false, d: 4 } },
    {
      plugins: [
        { type: "local", path: "/one", skipMcpDiscovery: true },
        { type: "local", path: "/two" },
        { type: "local", path: "/three", skipMcpDiscovery: false },
        { type: "local", path: "/four", skipMcpDiscovery: true },
      ],
    },
  ]
  for (const set of sets) await watch(query({ prompt: "hello", options: { ...options, ...set } }))
}
