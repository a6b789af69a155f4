import type { Row } from "@signalbox/transcript"

/** The visible part of the transcript: its end as it grows, or from a line of a row on. */
export type Scroll = { readonly at: "tail" } | { readonly at: "row"; readonly key: string; readonly line: number }

export const TAIL: Scroll = { at: "tail" }

export interface Layout {
  readonly rows: readonly Row[]
  /** Lays a row out; called for those alone that are seen. */
  readonly linesOf: (row: Row) => readonly string[]
  readonly height: number
}

export interface Visible {
  readonly lines: readonly string[]
  /** There is nothing above. */
  readonly isTop: boolean
  /** Rows below what is seen. */
  readonly below: number
}

interface Spot {
  readonly row: number
  readonly line: number
}

export function visible(layout: Layout, scroll: Scroll): Visible {
  const { rows, linesOf, height } = layout
  const top = spotOf(layout, scroll)
  const lines: string[] = []
  let row = top.row
  for (; row < rows.length && lines.length < height; row++) {
    const own = linesAt(rows, row, linesOf)
    lines.push(...(row === top.row ? own.slice(top.line) : own))
  }
  return { lines: lines.slice(0, height), isTop: top.row === 0 && top.line === 0, below: rows.length - row }
}

/** Up is negative. Whoever comes to the end follows it from then on. */
export function scrollBy(layout: Layout, scroll: Scroll, lines: number): Scroll {
  const from = spotOf(layout, scroll)
  const to = lines < 0 ? up(layout, from, -lines) : down(layout, from, lines)
  const tail = spotOf(layout, TAIL)
  const isTail = to.row > tail.row || (to.row === tail.row && to.line >= tail.line)
  const row = layout.rows[to.row]
  return isTail || row === undefined ? TAIL : { at: "row", key: row.key, line: to.line }
}

export function scrollToTop({ rows }: Layout): Scroll {
  const [first] = rows
  return first === undefined ? TAIL : { at: "row", key: first.key, line: 0 }
}

/** Where the first line is. */
function spotOf(layout: Layout, scroll: Scroll): Spot {
  const { rows, height, linesOf } = layout
  if (scroll.at === "row") {
    const row = rows.findIndex(({ key }) => key === scroll.key)
    // A row that is gone (a group that grew at its beginning) leaves the reader near where it was.
    if (row >= 0) return { row, line: Math.min(scroll.line, Math.max(0, linesAt(rows, row, linesOf).length - 1)) }
  }
  return up(layout, { row: rows.length, line: 0 }, height)
}

function up({ rows, linesOf }: Layout, from: Spot, lines: number): Spot {
  let { row, line } = from
  let left = lines
  while (left > line && row > 0) {
    left -= line
    row--
    line = linesAt(rows, row, linesOf).length
  }
  return { row, line: Math.max(0, line - left) }
}

function down({ rows, linesOf }: Layout, from: Spot, lines: number): Spot {
  let { row, line } = from
  let left = lines
  while (row < rows.length) {
    const rest = linesAt(rows, row, linesOf).length - line
    if (left < rest) return { row, line: line + left }
    left -= rest
    row++
    line = 0
  }
  return { row, line: 0 }
}

function linesAt(rows: readonly Row[], index: number, linesOf: Layout["linesOf"]): readonly string[] {
  const row = rows[index]
  return row === undefined ? [] : linesOf(row)
}
