import { query } from "@anthropic-ai/claude-agent-sdk"
import { attempt, basics, fake, user, watch } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

/** A query that is over, by itself or closed: every call is refused, and closing it again does no harm. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("tells-what-it-gets") }
  const ended = query({ prompt: "hello", options })
  await watch(ended)
  const closed = query({ prompt: "hello", options })
  await closed.next()
  closed.close()
  for (const running of [ended, closed]) {
    await attempt("interrupt", () => running.interrupt())
    await attempt("setModel", () => running.setModel("m"))
    await attempt("mcpServerStatus", () => running.mcpServerStatus())
    await attempt("readFile", () => running.readFile("p"))
    await attempt("streamInput", () =>
      running.streamInput(
        (async function* () {
          yield user("more")
        })(),
      ),
    )
    await attempt("return", () => running.return())
    await attempt("next", () => running.next())
    running.close()
    running.close()
  }
}
