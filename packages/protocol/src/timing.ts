/** The longest delay that a timer takes: a longer one would run at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface Backoff {
  readonly baseDelayMs: number
  readonly maxDelayMs: number
}

/**
 * How long to wait before the next try: a delay that doubles with each failure in a row. Pure: the dice are handed in. A roll from
 * 0 to 1 gives between half and all of it, so that many do not come at once.
 */
export function backoffMs({ baseDelayMs, maxDelayMs }: Backoff, failures: number, roll = 1): number {
  const doublings = Math.min(Math.max(failures - 1, 0), 30)
  return Math.min(baseDelayMs * 2 ** doublings, maxDelayMs) * (0.5 + roll / 2)
}
