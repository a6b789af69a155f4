import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { changedWords } from "../../src/transcript/content/changed-words.ts"
import { compareLines } from "../../src/transcript/content/compare-lines.ts"
import { diffRows } from "../../src/transcript/content/diff-rows.ts"
import { countsOf, diffTexts, patchOf } from "../../src/transcript/content/line-diff.ts"

const MARKS = { same: " ", added: "+", removed: "-" } as const
const UNFOLDED = { isSplit: false, unfolded: new Set<string>(), folds: true }

const numberedLines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)

/** Rows as somebody sees them. */
function shown(hunks: ReturnType<typeof diffTexts>, how: Partial<Parameters<typeof diffRows>[1]> = {}) {
  return diffRows(hunks, { ...UNFOLDED, ...how }).map((row) => {
    if (row.kind === "line") return `${MARKS[row.line.kind]}${row.line.text}`
    return row.kind === "pair" ? `${row.before?.text ?? "·"} | ${row.after?.text ?? "·"}` : `${row.kind} ${row.count}`
  })
}

/** Both texts, as the difference has them. */
function sidesOf(before: readonly string[], after: readonly string[]) {
  const stretches = compareLines(before, after)
  for (const { before: mine, after: theirs } of stretches.filter(({ isSame }) => isSame))
    expect(before.slice(...mine)).toEqual(after.slice(...theirs))
  return [stretches.flatMap((s) => before.slice(...s.before)), stretches.flatMap((s) => after.slice(...s.after))]
}

describe("a diff of lines", () => {
  it("[X-130] shows a change with three lines around it, folds the rest, and numbers both sides", () => {
    const before = numberedLines(20)
    const hunks = diffTexts(before.join("\n"), before.toSpliced(9, 1, "line ten", "and more").join("\n"))
    const around = [" line 7", " line 8", " line 9", "-line 10", "+line ten", "+and more"]
    expect(shown(hunks)).toEqual(["fold 6", ...around, " line 11", " line 12", " line 13", "fold 7"])
    expect(hunks[0]?.lines.find(({ text }) => text === "line ten")).toMatchObject({ after: 10 })
    expect(countsOf(hunks)).toEqual({ added: 2, removed: 1 })
  })

  it("[X-130] unfolds one fold and leaves the others, and folds nothing that is short", () => {
    const before = numberedLines(30)
    const hunks = diffTexts(before.join("\n"), before.with(9, "a").with(25, "b").join("\n"))
    const folds = diffRows(hunks, UNFOLDED).flatMap((row) => (row.kind === "fold" ? [row.id] : []))
    expect(folds).toHaveLength(2)
    expect(shown(hunks, { unfolded: new Set(folds.slice(1)) })).toContain(" line 18")
    expect(shown(hunks, { unfolded: new Set(folds.slice(1)) })[0]).toBe("fold 6")
    expect(shown(diffTexts("a\nb\nc\nd\ne\nf", "a\nb\nc\nd\ne\nF")).filter((row) => row.startsWith("fold"))).toEqual([])
  })

  it("[X-132] has what was removed beside what came in its place", () => {
    expect(shown(diffTexts("a\nb\nc\nd", "a\nB\nd"), { isSplit: true })).toEqual(["a | a", "b | B", "c | ·", "d | d"])
  })

  it("of a new file is all added, of equal texts nothing", () => {
    expect(countsOf(diffTexts("", "a\nb\n"))).toEqual({ added: 2, removed: 0 })
    expect(diffTexts("same", "same")).toEqual([])
  })

  it("[X-131] of a large edit leaves what did not change where it is, and takes no longer for many changes", () => {
    const before = numberedLines(50_000)
    const after = before.map((line, index) => (index % 3 === 0 ? `changed ${line}` : line))
    const started = process.cpuUsage()
    const hunks = diffTexts(before.join("\n"), after.join("\n"))
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000)
    expect(countsOf(hunks)).toEqual({ added: 16_667, removed: 16_667 })
    expect(shown(hunks).slice(0, 4)).toEqual(["-line 1", "+changed line 1", " line 2", " line 3"])
  })

  it("[X-131] finds the lines in common also where none is unique", () => {
    const block = ["{", "  a()", "}", ""]
    const before = Array.from({ length: 4000 }, (_, index) => block[index % 4] ?? "")
    const after = [...before.slice(0, 2000), "  b()", ...before.slice(2004), "end"]
    const { added, removed } = countsOf(diffTexts(before.join("\n"), after.join("\n")))
    expect(added).toBeLessThan(20)
    expect(removed).toBeLessThan(20)
  })

  it("[X-131] of texts with nothing in common still has every line of both, soon", () => {
    const text = (letter: string, count: number, chars: number) =>
      Array.from({ length: count }, (_, index) => `${letter}${index}`.padEnd(chars, letter)).join("\n")
    for (const [count, chars] of [
      [3000, 5],
      [20_000, 50],
      [200_000, 5],
    ] as const) {
      const started = process.cpuUsage()
      const hunks = diffTexts(text("x", count, chars), text("y", count, chars))
      expect(process.cpuUsage(started).user).toBeLessThan(3_000_000)
      expect(countsOf(hunks)).toEqual({ added: count, removed: count })
    }
  })

  it("[X-131] loses and invents no line, whatever the texts", () => {
    const lines = fc.array(fc.constantFrom("a", "b", "c", "d", "", "{", "}"), { maxLength: 60 })
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        expect(sidesOf(before, after)).toEqual([before, after])
      }),
    )
  })

  it("is found in a file of any length whose changes are few", () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`)
    const after = lines.with(5, "five").toSpliced(4500, 1).join("\n")
    expect(countsOf(diffTexts(lines.join("\n"), after))).toEqual({ added: 1, removed: 2 })
  })

  it("[X-22] has the words that changed within a line, and none of lines with little in common", () => {
    const partsOf = (before: string, after: string) =>
      changedWords(before, after)?.map((parts) =>
        parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join(""),
      )
    expect(partsOf("const tick = 50 // ms", "const tick = clock.now() // ms")).toEqual([
      "const tick = [50] // ms",
      "const tick = [clock.now()] // ms",
    ])
    expect(partsOf("one thing", "quite another matter")).toBeUndefined()
    expect(partsOf(`a ${"x".repeat(2000)}`, `b ${"x".repeat(2000)}`)).toBeUndefined()
  })

  it("is taken from the CLI's own patch, and nothing else is taken for one", () => {
    const patch = [
      { oldStart: 3, newStart: 3, oldLines: 1, newLines: 1, lines: [" a", "-b", "+c", "\\ No newline"] },
      { oldStart: 20, newStart: 20, oldLines: 1, newLines: 1, lines: ["-d", "+e"] },
    ]
    const hunks = patchOf(patch) ?? []
    expect(hunks[0]?.lines).toEqual([
      { kind: "same", text: "a", before: 3, after: 3 },
      { kind: "removed", text: "b", before: 4 },
      { kind: "added", text: "c", after: 4 },
    ])
    expect(shown(hunks)).toEqual([" a", "-b", "+c", "gap 15", "-d", "+e"])
    for (const wrong of [undefined, [], "x", [{ lines: [1] }], [null]]) expect(patchOf(wrong)).toBeUndefined()
  })
})
