import { startDeadline } from "../base/deadline.ts"
import { queryClosed, SdkError } from "../base/errors.ts"

export interface Limit {
  readonly ms: number
  /** What was waited for, as the message names it. */
  readonly what: string
  /** Ends the wait before its time. */
  readonly signal?: AbortSignal | undefined
}

/** A store is the program's own: it may throw, reject or never answer, and whoever waits for it must come to an end. */
export async function within<T>({ ms, what, signal }: Limit, ask: () => Promise<T>): Promise<T> {
  if (signal?.aborted === true) throw queryClosed()
  let callOff: (() => void) | undefined
  let stop: (() => void) | undefined
  const ended = new Promise<never>((_resolve, reject) => {
    callOff = startDeadline(ms, () =>
      reject(new SdkError("store/timeout", `SessionStore.${what.replace("()", `() timed out after ${ms}ms`)}`)),
    )
    stop = () => reject(queryClosed())
    signal?.addEventListener("abort", stop, { once: true })
  })
  try {
    return await Promise.race([ask(), ended])
  } catch (error) {
    throw error instanceof SdkError ? error : storeFailure(error)
  } finally {
    callOff?.()
    if (stop !== undefined) signal?.removeEventListener("abort", stop)
  }
}

function storeFailure(error: unknown): SdkError {
  return new SdkError("store/failed", error instanceof Error ? error.message : String(error), { cause: error })
}
