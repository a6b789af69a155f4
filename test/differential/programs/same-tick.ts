import { AbortError, type Query, query } from "@anthropic-ai/claude-agent-sdk"
import { basics, fake, observe } from "../program-context.ts"

export const scenario = { turns: [{ steps: [{ say: "Not used." }] }] }

const kindOf = (error: unknown) => (error instanceof AbortError ? "abort" : error instanceof Error ? "error" : "thrown")

/** How a promise settles, by the kind of its error: the words of an abort depend on how far the process had come. */
async function settled(what: string, promise: Promise<unknown>): Promise<void> {
  observe(
    "settled",
    await promise.then(
      () => `${what} resolved`,
      (error: unknown) => `${what}: ${kindOf(error)}`,
    ),
  )
}

/** A query that is read, called, closed and aborted at once, before anything of it can have begun. */
export async function run(): Promise<void> {
  const options = { ...basics(), pathToClaudeCodeExecutable: fake("never-answers") }
  const ways: Record<string, (running: Query, controller: AbortController) => Promise<unknown>[]> = {
    "read and abort": (running, controller) => {
      const read = running.next()
      controller.abort()
      return [read]
    },
    "call and abort": (running, controller) => {
      const call = running.setModel("m")
      controller.abort()
      return [call, running.next()]
    },
    "close and abort": (running, controller) => {
      const reads = [running.next(), running.next()]
      running.close()
      controller.abort()
      return reads
    },
    "return and abort": (running, controller) => {
      const returned = running.return()
      controller.abort()
      return [returned, running.next()]
    },
    "call and close": (running) => {
      const call = running.setModel("m")
      running.close()
      return [call, running.next()]
    },
  }
  for (const [way, act] of Object.entries(ways)) {
    const abortController = new AbortController()
    const running = query({ prompt: "hello", options: { ...options, abortController } })
    for (const [at, promise] of act(running, abortController).entries()) await settled(`${way} ${at}`, promise)
    await settled(`${way}, afterwards`, running.next())
  }
}
