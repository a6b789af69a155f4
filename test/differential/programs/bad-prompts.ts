import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Prompts with every optional field, with blocks, and an empty text: what reaches the agent. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  await watch(query({ prompt: "", options }))
  const id = "d1ff0000-0000-4000-8000-000000000001"
  const messages: SDKUserMessage[] = [
    user("plain"),
    user("with all", { uuid: id, priority: "later", isSynthetic: true, shouldQuery: false, session_id: id }),
    {
      type: "user",
      message: {
        role: "user",
        content: [
          { type: "text", text: "blocks" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        ],
      },
      parent_tool_use_id: "toolu_1",
      session_id: "",
    },
  ]
  async function* all() {
    yield* messages
  }
  await watch(query({ prompt: all(), options }))
  await watch(query({ prompt: all(), options: { ...options, verbatimPrompts: true } }))
}
