/** How events are posted. Pure: time and dice are handed in. */
export interface PostPolicy {
  readonly maxTries: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
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

/** What a POST that was tried `tries` times, with this outcome, leads to. */
export function nextPostStep(policy: PostPolicy, tries: number, outcome: PostOutcome, roll: number): PostStep {
  if (outcome.kind === "answered") {
    const { status } = outcome
    if (status >= 200 && status < 300) return { next: "done" }
    // The server will not like it better the next time.
    if (status >= 400 && status < 500 && status !== 429) return { next: "drop", why: `HTTP ${status}` }
  }
  const why = outcome.kind === "answered" ? `HTTP ${outcome.status}` : outcome.error.message
  if (tries >= policy.maxTries) return { next: "drop", why: `${why}, ${tries} times` }
  const delay = Math.min(policy.baseDelayMs * 2 ** (tries - 1), policy.maxDelayMs)
  return { next: "retry", delayMs: delay + policy.jitterMs * roll }
}
