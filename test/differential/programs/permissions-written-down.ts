import { existsSync, readFileSync } from "node:fs"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, context, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ tool: "Bash", input: { command: "touch x" } }, { say: "Made." }] }] }

/** "Always allow": the suggestions of the CLI itself, sent back. */
export async function run(): Promise<void> {
  await watch(
    query({
      prompt: "make it",
      options: {
        ...basics(),
        canUseTool: async (_name, input, { suggestions }) => ({
          behavior: "allow",
          updatedInput: input,
          ...(suggestions === undefined ? {} : { updatedPermissions: suggestions }),
        }),
      },
    }),
  )
  const file = `${context().cwd}/.claude/settings.local.json`
  observe("file", existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null)
}
