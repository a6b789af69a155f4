import { query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** Every kind of letter both ways, a line of megabytes, lines cut anywhere, and a last one without its end. */
export async function run(): Promise<void> {
  const letters = "ä\u2028€\u2029😀\u0000\u001b[1m\\n"
  await watch(
    query({ prompt: letters, options: { ...basics(), pathToClaudeCodeExecutable: fake("prints-odd-lines") } }),
    (message) => {
      if (message.type === "result" && message.subtype === "success") observe("length", message.result.length)
    },
  )
}
