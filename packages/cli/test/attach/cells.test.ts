import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cellWidth, cutCells, wrapCells } from "../../src/terminal/text.ts"

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" })
const characters = (text: string) => [...segmenter.segment(text)].length

describe("text in the cells of a terminal", () => {
  it("[AT6] wide characters take two cells, marks none", () => {
    expect([cellWidth("abc"), cellWidth("日本"), cellWidth("e\u0301"), cellWidth("👍"), cellWidth("👩‍👩‍👧")]).toEqual([
      3, 4, 1, 2, 2,
    ])
  })

  it("[AT6] lines are broken at spaces, and long words where they must be", () => {
    expect(wrapCells("the quick brown fox", 10)).toEqual(["the quick", "brown fox"])
    expect(wrapCells("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"])
    expect(wrapCells("日本語", 4)).toEqual(["日本", "語"])
    expect(wrapCells("a\n\nb", 5)).toEqual(["a", "", "b"])
    expect(cutCells("abcdef", 4)).toBe("abc…")
    // A character of two parts and two cells.
    expect(wrapCells("\u{1D157}\u{1D165}  !", 4)).toEqual(["\u{1D157}\u{1D165}", "!"])
  })

  it("[AT6] no line is wider than it may be, and no letter is lost", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), fc.integer({ min: 2, max: 30 }), (text, width) => {
        const lines = wrapCells(text, width)
        // One character of many parts may be wider than a very narrow line, and is not taken apart.
        expect(lines.filter((line) => cellWidth(line) > width && characters(line) > 1)).toEqual([])
        const letters = (value: string) => value.replaceAll(/\s/g, "")
        expect(letters(lines.join("")).normalize()).toBe(letters(text).normalize())
        expect(cellWidth(cutCells(text.replaceAll("\n", " "), width))).toBeLessThanOrEqual(width)
      }),
      { examples: [["\u{1D157}\u{1D165}  !", 4]] },
    )
  })
})
