import { chmodSync, writeFileSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Which files are given to the runtime, and which are executed themselves: one is JavaScript, a shell's is the other. */
export async function run(): Promise<void> {
  const text = "/* 2>/dev/null; exit 4; # */ process.exit(6)\n"
  for (const extension of ["js", "mjs", "cjs", "ts", "tsx", "jsx", "mts", "cts", "JS"]) {
    const path = `${context().cwd}/agent.${extension}`
    writeFileSync(path, text)
    chmodSync(path, 0o755)
    observe("ending", extension)
    await watch(query({ prompt: "go", options: { ...basics(), pathToClaudeCodeExecutable: path } }))
  }
}
