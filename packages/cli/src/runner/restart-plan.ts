import { backoffMs } from "@signalbox/protocol/timing"

/** So many deaths in a row, each soon after its start, and it is of no use to try again. */
export const MAX_RESTARTS = 5
const BACKOFF = { baseDelayMs: 1_000, maxDelayMs: 30_000 }
/** One that lived so long was well: what ended it is not what ended those before. */
const WELL_AFTER_MS = 60_000

/** Which restart in a row this is, and how long it waits; undefined when there were enough. Pure. */
export function nextRestart(
  before: number,
  livedMs: number,
): { readonly inARow: number; readonly delayMs: number } | undefined {
  const inARow = livedMs >= WELL_AFTER_MS ? 1 : before + 1
  if (inARow > MAX_RESTARTS) return undefined
  return { inARow, delayMs: backoffMs(BACKOFF, inARow) }
}
