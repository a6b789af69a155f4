import type { Clock } from "@signalbox/transport"

const WINDOW_MS = 60_000
const MAX_PER_ADDRESS = 10
const MAX_IN_ALL = 100

interface Attempt {
  readonly at: number
  readonly network: string
}

/**
 * How often somebody may fail to sign in: counted per address and in all, over the last minute. No more than `MAX_IN_ALL`
 * failures are remembered, however many addresses they come from. A valid token is never held up: many people may share one
 * address.
 */
export class LoginThrottle {
  readonly #clock: Clock
  #attempts: readonly Attempt[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts a failure. Returns how long to wait when there were too many already. */
  fail(address: string | undefined): number | undefined {
    const now = this.#clock.now()
    const network = networkOf(address ?? "")
    this.#attempts = this.#attempts.filter(({ at }) => at > now - WINDOW_MS)
    const same = this.#attempts.filter((attempt) => attempt.network === network)
    const full = same.length >= MAX_PER_ADDRESS ? same : this.#attempts.length >= MAX_IN_ALL ? this.#attempts : []
    const [oldest] = full
    if (oldest !== undefined) return oldest.at + WINDOW_MS - now
    this.#attempts = [...this.#attempts, { at: now, network }]
    return undefined
  }
}

/** Whoever has one IPv6 address has a whole /64 of them. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "")
  if (!plain.includes(":")) return plain
  const [head = "", tail = ""] = plain.split("::")
  const first = head === "" ? [] : head.split(":")
  const last = tail === "" ? [] : tail.split(":")
  const middle = Array.from({ length: Math.max(8 - first.length - last.length, 0) }, () => "0")
  return [...first, ...middle, ...last].slice(0, 4).join(":")
}
