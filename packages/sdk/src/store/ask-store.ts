import { within } from "../base/deadline.ts"
import { queryClosed, SdkError } from "../base/errors.ts"

export interface Limit {
  readonly ms: number
  /** The awaited operation, as the message names it. */
  readonly what: string
  /** Ends the wait before its time. */
  readonly signal?: AbortSignal | undefined
}

/** A store is the program's own: it may throw, reject or never answer, and whoever waits for it must come to an end. */
export async function askStore<T>({ ms, what, signal }: Limit, ask: () => Promise<T>): Promise<T> {
  if (signal?.aborted === true) throw queryClosed()
  let stop: () => void = () => undefined
  const ended = new Promise<never>((_resolve, reject) => {
    stop = () => reject(queryClosed())
  })
  signal?.addEventListener("abort", stop, { once: true })
  try {
    return await within<T>(ms, Promise.race([ask(), ended]), () => {
      throw new SdkError("store/timeout", `SessionStore.${what.replace("()", `() timed out after ${ms}ms`)}`)
    })
  } catch (error) {
    if (error instanceof SdkError) throw error
    throw new SdkError("store/failed", error instanceof Error ? error.message : String(error), { cause: error })
  } finally {
    signal?.removeEventListener("abort", stop)
  }
}
