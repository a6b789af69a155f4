import {
  unstable_v2_createSession,
  unstable_v2_prompt,
  unstable_v2_resumeSession,
} from "@anthropic-ai/claude-agent-sdk"
import { attempt, fake, observe, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const resumed = "d1ff0000-0000-4000-8000-000000000001"

/** Sessions whose executable is not there or fails, and what is left of a session that was closed. */
export async function run(): Promise<void> {
  const missing = { model: "m", pathToClaudeCodeExecutable: "/nowhere/claude" }
  await attempt("create", () => unstable_v2_createSession(missing))
  await attempt("resume", () => unstable_v2_resumeSession(resumed, missing))
  await attempt("prompt", () => unstable_v2_prompt("hello", missing))
  const failing = unstable_v2_createSession({ model: "m", pathToClaudeCodeExecutable: fake("exits-with-1") })
  await attempt("send", () => failing.send("hello"))
  await watch(failing.stream())
  await attempt("id", () => failing.sessionId)
  failing.close()
  await attempt("send after the close", () => failing.send("hello"))
  const options = { model: "m", pathToClaudeCodeExecutable: fake("talks-on-stderr") }
  const session = unstable_v2_resumeSession(resumed, options)
  await session.send("hello")
  for await (const { type } of session.stream()) observe("types", type)
  // What was resumed keeps its name, whatever the agent calls it.
  observe("id", session.sessionId)
  await session[Symbol.asyncDispose]()
  await attempt("result", async () => (await unstable_v2_prompt("hello", options)).type)
}
