import { InMemorySessionStore, type Options, query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Never said." }] }] }

/** Combinations that cannot be meant are refused before anything starts. */
export async function run(): Promise<void> {
  const refused: Record<string, Options> = {
    "two ways to ask": {
      canUseTool: async () => ({ behavior: "deny", message: "" }),
      permissionPromptToolName: "mcp__x",
    },
    "falls back to itself": { model: "m", fallbackModel: "m" },
    "sandbox beside a file": { sandbox: { enabled: true }, settings: "/some/file.json" },
    "a store without files": { sessionStore: new InMemorySessionStore(), persistSession: false },
    "a store with checkpoints": { sessionStore: new InMemorySessionStore(), enableFileCheckpointing: true },
  }
  for (const [what, options] of Object.entries(refused))
    await attempt(what, () => {
      query({ prompt: "hello", options: { ...basics(), ...options } }).close()
      return "taken"
    })
}
