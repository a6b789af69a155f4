import { query, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A JavaScript program passes a plain list; reading it with `for await` is what makes that work. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  const list: unknown = [user("only one")]
  // Anything that `for await` takes is taken, whatever the type says.
  const prompt = list as AsyncIterable<SDKUserMessage>
  // With a callback, so that the input stays open until the result.
  const canUseTool = async () => ({ behavior: "deny" as const, message: "no" })
  await watch(query({ prompt, options: { ...options, canUseTool } }))
}
