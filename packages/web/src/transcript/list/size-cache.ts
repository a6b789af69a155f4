import type { Row } from "@signalbox/transcript"
import type { CacheSnapshot } from "virtua"

interface KeptSizes {
  readonly firstKey: string
  readonly count: number
  readonly sizes: CacheSnapshot
}

/** How high rows were, of the last few sessions: coming back, nothing has to be measured before it can be scrolled. */
const kept = new Map<string, KeptSizes>()
const MAX_KEPT = 20

export function keepSizes(session: string, rows: readonly Row[], sizes: CacheSnapshot): void {
  const firstKey = rows[0]?.key
  if (firstKey === undefined) return
  kept.delete(session)
  kept.set(session, { firstKey, count: rows.length, sizes })
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
}

/** Only for the same rows: another row's height would be worse than none. */
export function keptSizes(session: string, rows: readonly Row[]): CacheSnapshot | undefined {
  const own = kept.get(session)
  return own !== undefined && own.firstKey === rows[0]?.key && own.count === rows.length ? own.sizes : undefined
}
