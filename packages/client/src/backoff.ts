/** How long to wait before the next try. Pure: the dice are handed in. */
export interface Backoff {
  readonly baseDelayMs: number
  readonly maxDelayMs: number
}

export const DEFAULT_BACKOFF: Backoff = { baseDelayMs: 250, maxDelayMs: 10_000 }

/** Between half and all of a delay that doubles with each failure in a row, so that many clients do not come at once. */
export function retryDelayMs({ baseDelayMs, maxDelayMs }: Backoff, failures: number, roll: number): number {
  const delay = Math.min(baseDelayMs * 2 ** Math.min(failures - 1, 30), maxDelayMs)
  return delay * (0.5 + roll / 2)
}
