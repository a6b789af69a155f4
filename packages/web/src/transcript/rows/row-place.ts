import type { Row } from "@signalbox/transcript"

/** Where an event is shown: in which row of the list, and what must be open for it to be seen. */
interface RowPlace {
  readonly index: number
  readonly opens: readonly string[]
  /** A sub-agent's lane that has it in a part that is not shown inline: it is looked at by itself. */
  readonly lane: string | undefined
  /** False: the event has no row, and this is the nearest. */
  readonly isExact: boolean
}

type LaneRows = (lane: string) => readonly Row[]

/** A lane's last rows stand inline. */
export const INLINE_ROWS = 20
/** Sub-agents of sub-agents: deeper ones stand on pages of their own. */
export const MAX_DEPTH = 3

/**
 * Pure. An event that has a row, be it in a group of calls or in a sub-agent's lane, is that row's; what is not shown
 * resolves to the nearest before it. `words`: of several rows of one event, the one that has them, opened.
 */
export function placeOf(
  rows: readonly Row[],
  { seq, laneRows, words = "" }: { readonly seq: number; readonly laneRows: LaneRows; readonly words?: string },
): RowPlace {
  const wanted = words.toLowerCase().split(/[\s"]+/u)[0] ?? ""
  const found = rows.flatMap((row, index) => {
    const way = wayTo(row, { seq, laneRows, depth: 1 })
    return way === undefined ? [] : [{ index, ...way }]
  })
  const best = found.find(({ row }) => wanted !== "" && JSON.stringify(row).toLowerCase().includes(wanted)) ?? found[0]
  if (best !== undefined) {
    // Words that were looked for may be in what the row itself keeps closed.
    const own = wanted === "" ? [] : [best.row.key]
    return { index: best.index, opens: [...best.opens, ...own], lane: best.lane, isExact: true }
  }
  const before = rows.findLastIndex(({ headSeq }) => headSeq <= seq)
  return { index: Math.max(0, before), opens: [], lane: undefined, isExact: false }
}

interface Way {
  /** The innermost row that has it. */
  readonly row: Row
  readonly opens: readonly string[]
  readonly lane: string | undefined
}

function wayTo(
  row: Row,
  place: { readonly seq: number; readonly laneRows: LaneRows; readonly depth: number },
): Way | undefined {
  const { seq, laneRows, depth } = place
  if (row.kind === "activity") {
    for (const member of row.members) {
      const way = wayTo(member, place)
      if (way !== undefined) return { ...way, opens: [row.key, ...way.opens] }
    }
    return undefined
  }
  if (tellsOf(row, seq)) return { row, opens: [], lane: undefined }
  if (row.kind !== "tool" || !row.hasLane) return undefined
  const lane = laneRows(row.toolUseId)
  for (const [index, inner] of lane.entries()) {
    const way = wayTo(inner, { seq, laneRows, depth: depth + 1 })
    if (way === undefined) continue
    const isInline = depth < MAX_DEPTH && index >= lane.length - INLINE_ROWS
    return { row: way.row, opens: [row.key, ...way.opens], lane: isInline ? way.lane : row.toolUseId }
  }
  return undefined
}

/** Whether a row shows what an event told. */
function tellsOf(row: Row, seq: number): boolean {
  if (row.headSeq === seq || row.lastSeq === seq) return true
  if (row.kind === "prompt") return row.sentSeq === seq
  return row.kind === "tool" && (row.result?.seq === seq || row.ask?.seq === seq)
}
