import { describe, expect, it } from "vitest"
import { joined } from "../../src/session/composer/drafts.ts"
import { treeRows, treeStep } from "../../src/session/panels/file-tree.ts"
import { commentText, isSameLine, withLine } from "../../src/session/panels/line-comment.ts"

const files = ["src/b.ts", "README.md", "src/deep/er/a.ts", "/etc/hosts", "src/a.ts"].map((path, index) => ({
  path,
  added: index + 1,
  removed: index,
}))
const NONE: ReadonlySet<string> = new Set()
const drawn = (closed = NONE) =>
  treeRows(files, closed).map(
    ({ level, name, isOpen, added }) => `${"  ".repeat(level - 1)}${name}${isOpen === undefined ? "" : "/"} ${added}`,
  )

describe("the tree of changed files", () => {
  it("[V-130] has folders first, each with the lines of all in it, and one row for folders in a row", () => {
    expect(drawn()).toEqual([
      "/etc/ 4",
      "  hosts 4",
      "src/ 9",
      "  deep/er/ 3",
      "    a.ts 3",
      "  a.ts 5",
      "  b.ts 1",
      "README.md 2",
    ])
    expect(drawn(new Set(["src/"]))).toEqual(["/etc/ 4", "  hosts 4", "src/ 9", "README.md 2"])
  })

  it("[V-130] is gone through with the arrows: out to the folder, into it, open and closed", () => {
    const rows = treeRows(files, NONE)
    expect(treeStep(rows, 4, "ArrowLeft")).toEqual({ go: 3 })
    expect(treeStep(rows, 3, "ArrowLeft")).toEqual({ toggle: "src/deep/er/" })
    expect(treeStep(rows, 2, "ArrowRight")).toEqual({ go: 3 })
    expect(treeStep(treeRows(files, new Set(["src/"])), 2, "ArrowRight")).toEqual({ toggle: "src/" })
    expect(treeStep(rows, 7, "ArrowDown")).toEqual({ go: 7 })
    expect(treeStep(rows, 7, "Home")).toEqual({ go: 0 })
    expect(treeStep(rows, 0, "x")).toBeUndefined()
  })

  it("[V-130] is built of very many files, and of a path as deep as somebody likes", () => {
    const many = Array.from({ length: 50_000 }, (_, index) => ({
      path: `d${index % 300}/${index}`,
      added: 1,
      removed: 0,
    }))
    expect(treeRows(many, NONE)).toHaveLength(50_300)
    expect(treeRows([{ path: "a/".repeat(100_000), added: 1, removed: 0 }], NONE)).toHaveLength(2)
  })
})

describe("a comment on a line", () => {
  it("[V-17] is kept when another line is commented on, unless nothing was written", () => {
    const line = (after: number) => ({ kind: "added", text: "x", after }) as const
    const two = withLine([{ line: line(1), words: "half a w" }], line(2))
    expect(two).toEqual([
      { line: line(1), words: "half a w" },
      { line: line(2), words: "" },
    ])
    expect(withLine(two, line(1))).toEqual([{ line: line(1), words: "half a w" }])
    expect(withLine(two, line(2))).toEqual(two)
  })

  it("[V-17] names the file, the line and the code, and goes below what is written already", () => {
    const text = commentText("src/a.ts", { kind: "added", text: "  const a = 1", after: 7 }, " Why? ")
    expect(text).toBe("src/a.ts:7\n> const a = 1\nWhy?")
    expect(commentText("a", { kind: "removed", text: "x".repeat(9000), before: 2 }, "!")).toMatch(
      /^a:2 \(a line that was removed\)\n> x{300}…\n!$/,
    )
    expect(joined(" \n", text)).toBe(`${text}\n`)
    expect(joined("Do this.\n", text)).toBe(`Do this.\n\n${text}\n`)
  })

  it("[V-17] stays with its line's number while the agent goes on; a removed line and the one in its place are two", () => {
    const line = { kind: "added", text: "a", after: 3 } as const
    expect(isSameLine(line, { kind: "same", text: "b", before: 9, after: 3 })).toBe(true)
    expect(isSameLine(line, { kind: "removed", text: "b", before: 3 })).toBe(false)
  })
})
