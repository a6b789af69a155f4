import { type Backoff, backoffMs } from "@signalbox/protocol/timing"

/** When to dial again, and when to stop. Pure: the time and the dice are handed in. */
export interface ReconnectPolicy extends Backoff {
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

/** The tries used up since the last open connection. */
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
  const delay = backoffMs(policy, failures)
  return Math.max(0, delay + delay * policy.jitter * (2 * roll - 1))
}

/** How events are posted. Pure: time and dice are handed in. */
export interface PostPolicy extends Backoff {
  readonly maxTries: number
  /** Up to this much is added to a delay. */
  readonly jitterMs: number
  readonly timeoutMs: number
  readonly maxBatchEvents: number
  readonly maxBatchBytes: number
  /** How long `stream_event`s wait for company; 0: not at all. Any other message takes them along at once. */
  readonly streamEventDelayMs: number
  /** Without a token the real CLIs connect, and every message vanishes; ours refuses to start. */
  readonly withoutToken: "drop" | "refuse"
}

const cli2137: PostPolicy = {
  maxTries: 10,
  baseDelayMs: 500,
  maxDelayMs: 8000,
  jitterMs: 0,
  timeoutMs: 15_000,
  maxBatchEvents: 1,
  maxBatchBytes: 1,
  streamEventDelayMs: 0,
  withoutToken: "drop",
}
const cli2120: PostPolicy = {
  ...cli2137,
  jitterMs: 1000,
  maxBatchEvents: 500,
  maxBatchBytes: 8 * 1024 * 1024,
  streamEventDelayMs: 100,
}
const patient: PostPolicy = { ...cli2120, maxTries: Number.POSITIVE_INFINITY, withoutToken: "refuse" }

/** By the names of the dial presets. */
export const postPolicies = { cli2137, cli2100: cli2120, cli2120, patient, once: { ...patient, maxTries: 10 } } as const

export type PostOutcome =
  | { readonly kind: "answered"; readonly status: number }
  | { readonly kind: "failed"; readonly error: Error }

export type PostStep =
  | { readonly next: "done" }
  | { readonly next: "retry"; readonly delayMs: number }
  | { readonly next: "drop"; readonly why: string }

/** The next step after a POST was tried `tries` times, with this outcome. */
export function nextPostStep(policy: PostPolicy, tries: number, outcome: PostOutcome, roll: number): PostStep {
  if (outcome.kind === "answered") {
    const { status } = outcome
    if (status >= 200 && status < 300) return { next: "done" }
    // The server will not like it better the next time.
    if (status >= 400 && status < 500 && status !== 429) return { next: "drop", why: `HTTP ${status}` }
  }
  const why = outcome.kind === "answered" ? `HTTP ${outcome.status}` : outcome.error.message
  if (tries >= policy.maxTries) return { next: "drop", why: `${why}, ${tries} times` }
  return { next: "retry", delayMs: backoffMs(policy, tries) + policy.jitterMs * roll }
}
