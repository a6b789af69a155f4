import { setTimeout as pause } from "node:timers/promises"
import { HubClientError } from "@signalbox/client"

/** What may be over in a moment: another agent is still ending, or the runner comes back. */
const PASSING: ReadonlySet<string> = new Set([
  "runner/full",
  "runner/away",
  "runner/no-answer",
  "hub/busy",
  "store/full",
])
const PATIENCE_MS = 10 * 60_000
const AGAIN_MS = 1_000

/** Tries again what is refused for the moment. */
export async function passingRefusal<Reply>(work: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof HubClientError) || !PASSING.has(reasonOf(error)) || Date.now() > deadline) throw error
      await pause(AGAIN_MS, undefined, { signal })
    }
  }
}

/** A session that could not be resumed says why beside its own code. */
function reasonOf({ code, details }: HubClientError): string {
  const { reason } = details
  return typeof reason === "string" ? reason : code
}

/** What is refused whichever task it is for. */
export function isOfEveryTask(code: string): boolean {
  return code.startsWith("auth/") || code.startsWith("client/") || code.startsWith("store/")
}

/** What is wrong with the task itself: it is too long, for instance. */
export function isOfOneTask(code: string): boolean {
  return code.startsWith("request/")
}
