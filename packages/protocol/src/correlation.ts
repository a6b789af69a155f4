import { ProtocolError } from "./envelope.ts"
import { LONGEST_TIMER_MS } from "./timing.ts"

/**
 * Requests of ours that wait for their answer. Every one settles: by the answer, by abort, by time-out or by the end of
 * the connection. An error that the peer reports is an answer like any other; only local endings reject.
 */

// In every runtime we support, and in no library this room compiles against.
declare function setTimeout(run: () => void, ms: number): unknown
declare function clearTimeout(handle: unknown): void

export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: "abort", listener: () => void): void
  removeEventListener(type: "abort", listener: () => void): void
}

export interface PendingRequestsOptions {
  /** How many answers nobody waits for yet are kept, and how many settled ids are remembered. */
  readonly memory?: number
}

export interface WaitOptions {
  /** None by default: some answers take a person's time. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignalLike
}

/** The fate of an answer: it settled a request, is kept for one that will come, or was too late and dropped. */
export type AnswerFate = "settled" | "kept" | "ignored"

export interface PendingRequests<Answer> {
  /** Waits for the answer to this id. It may have arrived already. */
  wait(requestId: string, options?: WaitOptions): Promise<Answer>
  /** Hands in an answer. The first one wins; CLI 2.1.37 answers some requests twice. */
  answer(requestId: string, answer: Answer): AnswerFate
  /** The connection is over: what waits is rejected with request/closed, and so is all that comes later. */
  close(reason: string, cause?: unknown): void
}

interface Waiter<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: ProtocolError) => void
  readonly release: () => void
}

/** Answers may be large, and one that comes before its request is waited for is rare. */
const DEFAULT_MEMORY = 64

export function createPendingRequests<Answer>(options: PendingRequestsOptions = {}): PendingRequests<Answer> {
  const memory = options.memory ?? DEFAULT_MEMORY
  const waiting = new Map<string, Waiter<Answer>>()
  const early = new Map<string, { readonly answer: Answer }>()
  const settled = new Set<string>()
  let closed: ProtocolError | undefined

  function remember(requestId: string): void {
    settled.add(requestId)
    forgetOldest(settled, memory)
  }

  function settle(requestId: string, how: (waiter: Waiter<Answer>) => void): void {
    const waiter = waiting.get(requestId)
    if (waiter === undefined) return
    waiting.delete(requestId)
    remember(requestId)
    waiter.release()
    how(waiter)
  }

  function fail(requestId: string, error: ProtocolError): void {
    settle(requestId, (waiter) => waiter.reject(error))
  }

  function startWaiting(requestId: string, { timeoutMs, signal }: WaitOptions): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const limitMs = timerMs(timeoutMs)
      const timer =
        limitMs === undefined ? undefined : setTimeout(() => fail(requestId, timedOut(requestId, limitMs)), limitMs)
      const onAbort = () => fail(requestId, aborted(requestId, signal?.reason))
      signal?.addEventListener("abort", onAbort)
      const release = () => {
        clearTimeout(timer)
        signal?.removeEventListener("abort", onAbort)
      }
      waiting.set(requestId, { resolve, reject, release })
    })
  }

  return {
    async wait(requestId, waitOptions = {}) {
      if (waiting.has(requestId)) {
        throw new ProtocolError("request/duplicate", `request ${requestId} is waited for already`)
      }
      const kept = early.get(requestId)
      if (kept !== undefined) {
        early.delete(requestId)
        remember(requestId)
        return kept.answer
      }
      if (closed !== undefined) throw closed
      if (waitOptions.signal?.aborted === true) throw aborted(requestId, waitOptions.signal.reason)
      return startWaiting(requestId, waitOptions)
    },
    answer(requestId, answer) {
      if (waiting.has(requestId)) {
        settle(requestId, (waiter) => waiter.resolve(answer))
        return "settled"
      }
      if (closed !== undefined || settled.has(requestId) || early.has(requestId)) return "ignored"
      early.set(requestId, { answer })
      forgetOldest(early, memory)
      return "kept"
    },
    close(reason, cause) {
      if (closed !== undefined) return
      const error = new ProtocolError("request/closed", `no answer will come: ${reason}`, { cause })
      closed = error
      // A map may lose entries while it is gone through.
      for (const requestId of waiting.keys()) fail(requestId, error)
    },
  }
}

function timerMs(timeoutMs: number | undefined): number | undefined {
  return timeoutMs === undefined || timeoutMs === Number.POSITIVE_INFINITY
    ? undefined
    : Math.min(timeoutMs, LONGEST_TIMER_MS)
}

function timedOut(requestId: string, timeoutMs: number): ProtocolError {
  return new ProtocolError("request/timeout", `request ${requestId} was not answered within ${timeoutMs} ms`, {
    details: { requestId, timeoutMs },
  })
}

function aborted(requestId: string, reason: unknown): ProtocolError {
  return new ProtocolError("request/aborted", `request ${requestId} was aborted`, { cause: reason })
}

/** Maps and sets keep the order of insertion, so the first key is the oldest. */
function forgetOldest(entries: Map<string, unknown> | Set<string>, limit: number): void {
  const [oldest] = entries.keys()
  if (oldest !== undefined && entries.size > limit) entries.delete(oldest)
}
