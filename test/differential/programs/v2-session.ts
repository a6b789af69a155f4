import {
  unstable_v2_createSession,
  unstable_v2_prompt,
  unstable_v2_resumeSession,
} from "@anthropic-ai/claude-agent-sdk"
import { attempt, context, observe, watch } from "../program-context.ts"

export const scenario = {
  turns: [
    { on: "name is", steps: [{ say: "Hello Ada." }] },
    { on: "What", steps: [{ say: "Ada." }] },
    { on: "again", steps: [{ say: "Ada again." }] },
    { on: "once", steps: [{ say: "Once." }] },
  ],
}

export async function run(): Promise<void> {
  const options = { model: "claude-sonnet-4-5-20250929", pathToClaudeCodeExecutable: context().claude }
  const session = unstable_v2_createSession(options)
  await attempt("id before", () => session.sessionId)
  await session.send("My name is Ada.")
  await watch(session.stream())
  await session.send("What is my name?")
  await watch(session.stream())
  const id = session.sessionId
  session.close()
  const resumed = unstable_v2_resumeSession(id, options)
  await attempt("id of the resumed", () => resumed.sessionId === id)
  await resumed.send("and again")
  await watch(resumed.stream())
  resumed.close()
  observe("prompt", await unstable_v2_prompt("just once", options))
}
