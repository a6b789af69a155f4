/** When to dial again, and when to stop. Pure: the time and the dice are handed in. */
export interface ReconnectPolicy {
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  /** 0.25 means that a delay is up to a quarter shorter or longer. */
  readonly jitter: number
  /** Counted failures in a row after which the next one is the last. Absent: not limited by number. */
  readonly maxFailures?: number
  /** The first failure this long after the first one is the last. Absent: not limited by time. */
  readonly giveUpAfterMs?: number
  /** Two failures further apart than this mean that the machine slept: counting begins anew. */
  readonly sleepGapMs?: number
  /** A dial that fails counts this often: CLI 2.1.37 counts its `error` event and its `close` event. */
  readonly countsPerFailedDial: 1 | 2
}

/** What has been used up since the last open connection. */
export interface ReconnectBudget {
  readonly failures: number
  readonly firstFailureAt: number
  readonly lastFailureAt: number
}

export interface Failure {
  readonly at: number
  /** "dial": no connection came about. "lost": an open connection ended. */
  readonly kind: "dial" | "lost"
  /** From 0 up to, not including, 1. */
  readonly roll: number
}

export type NextTry =
  | { readonly retry: true; readonly delayMs: number; readonly budget: ReconnectBudget }
  | { readonly retry: false }

export function nextTry(policy: ReconnectPolicy, before: ReconnectBudget | undefined, failure: Failure): NextTry {
  const slept =
    before !== undefined && policy.sleepGapMs !== undefined && failure.at - before.lastFailureAt > policy.sleepGapMs
  const used = slept ? undefined : before
  const firstFailureAt = used?.firstFailureAt ?? failure.at
  if (policy.giveUpAfterMs !== undefined && failure.at - firstFailureAt >= policy.giveUpAfterMs) return { retry: false }
  const failures = (used?.failures ?? 0) + (failure.kind === "dial" ? policy.countsPerFailedDial : 1)
  if (policy.maxFailures !== undefined && failures > policy.maxFailures) return { retry: false }
  const delayMs = delayFor(policy, failures, failure.roll)
  return { retry: true, delayMs, budget: { failures, firstFailureAt, lastFailureAt: failure.at } }
}

function delayFor(policy: ReconnectPolicy, failures: number, roll: number): number {
  const delay = Math.min(policy.baseDelayMs * 2 ** (failures - 1), policy.maxDelayMs)
  return Math.max(0, delay + delay * policy.jitter * (2 * roll - 1))
}
