import type { Row } from "@signalbox/transcript"
import { describe, expect, it } from "vitest"
import { type Layout, scrollBy, scrollToTop, TAIL, visible } from "../../src/attach/viewport.ts"

/** Rows of `lines` lines each: "2.1" is the second line of row 2. */
function layout(rows: number, { lines = 3, height = 5, laid = [] as string[] } = {}): Layout {
  const all = Array.from({ length: rows }, (_, index): Row => {
    const place = { key: `k${index}`, headSeq: index, lastSeq: index, lane: null, at: "" }
    return { kind: "text", ...place, state: "done", text: String(index) }
  })
  const linesOf = (row: Row) => {
    laid.push(row.key)
    return Array.from({ length: lines }, (_, line) => `${row.headSeq}.${line}`)
  }
  return { rows: all, linesOf, height }
}

describe("what part of a transcript is seen", () => {
  it("[AT4] the end, unless somebody scrolled", () => {
    expect(visible(layout(10), TAIL)).toEqual({ lines: ["8.1", "8.2", "9.0", "9.1", "9.2"], isTop: false, below: 0 })
    expect(visible(layout(1), TAIL)).toMatchObject({ lines: ["0.0", "0.1", "0.2"], isTop: true })
    expect(visible(layout(0), TAIL).lines).toEqual([])
  })

  it("[AT4] who scrolled stays at the same line while rows come after it and before it", () => {
    const up = scrollBy(layout(10), TAIL, -4)
    const seen = ["7.0", "7.1", "7.2", "8.0", "8.1"]
    expect(visible(layout(10), up).lines).toEqual(seen)
    expect(visible(layout(30), up).lines).toEqual(seen)
    const { rows, ...rest } = layout(10)
    expect(visible({ ...rest, rows: rows.slice(5) }, up).lines).toEqual(seen)
  })

  it("[AT4] scrolling up ends at the top, and down at the end, which is followed from then on", () => {
    expect(visible(layout(10), scrollBy(layout(10), TAIL, -1000))).toMatchObject({ isTop: true })
    expect(scrollBy(layout(10), scrollToTop(layout(10)), 1000)).toBe(TAIL)
    expect(scrollBy(layout(10), scrollBy(layout(10), TAIL, -3), 3)).toBe(TAIL)
  })

  it("[AT1] of a long session only the rows that are seen are laid out", () => {
    const laid: string[] = []
    visible(layout(100_000, { laid }), TAIL)
    expect(new Set(laid).size).toBeLessThan(5)
  })
})
