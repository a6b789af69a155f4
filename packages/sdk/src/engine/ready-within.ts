import { startDeadline } from "../base/deadline.ts"
import { SdkError } from "../base/errors.ts"
import type { QueryEngine } from "./query-engine.ts"

export const READY_TIMEOUT_MS = 60_000

/** Resolves when the agent has answered `initialize`; one that does not is ended. */
export async function readyWithin(engine: QueryEngine, ms: number): Promise<void> {
  let callOff: (() => void) | undefined
  const late = new Promise<never>((_resolve, reject) => {
    callOff = startDeadline(ms, () => {
      const message = `Subprocess initialization did not complete within ${ms}ms. Claude Code did not answer the initialize request.`
      reject(new SdkError("startup/timeout", message, { details: { initializeTimeoutMs: ms } }))
    })
  })
  try {
    await Promise.race([engine.initialized(), late])
  } catch (error) {
    engine.close()
    throw error
  } finally {
    callOff?.()
  }
}
