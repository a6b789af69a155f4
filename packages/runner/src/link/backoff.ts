/** When a hub that cannot be reached is tried again. */
export interface LinkTiming {
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  /** After the hub said that it does not take us: somebody has to mend that, so it is tried slowly. */
  readonly refusedDelayMs: number
  readonly pingMs: number
  /** A connection on which nothing was heard for as long is given up. */
  readonly silenceMs: number
}

export const DEFAULT_LINK_TIMING: LinkTiming = {
  baseDelayMs: 200,
  maxDelayMs: 5_000,
  refusedDelayMs: 30_000,
  pingMs: 10_000,
  silenceMs: 25_000,
}

/** Why the last try, or the last connection, came to its end. */
export type LinkEnd = "unreachable" | "come-back" | "refused" | "unknown"

/** Pure: the dice are handed in. Between half and all of a delay that doubles, so that many do not come at once. */
export function retryDelayMs(timing: LinkTiming, end: { why: LinkEnd; failures: number; roll: number }): number {
  const { why, failures, roll } = end
  if (why === "refused") return timing.refusedDelayMs * (0.5 + roll / 2)
  const delay = Math.min(timing.baseDelayMs * 2 ** Math.min(Math.max(failures - 1, 0), 20), timing.maxDelayMs)
  return delay * (0.5 + roll / 2)
}

const NOT_ALLOWED = 4001
const UNKNOWN = 4004
const RESTARTS = 1012

export function linkEnd(closeCode: number, httpStatus: number | undefined): LinkEnd {
  if (httpStatus === 401 || httpStatus === 403 || closeCode === NOT_ALLOWED) return "refused"
  if (closeCode === UNKNOWN) return "unknown"
  return closeCode === RESTARTS ? "come-back" : "unreachable"
}
