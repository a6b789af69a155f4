import { describe, expect, it } from "vitest"
import { type LineComment, messageOf, withComment } from "../../src/session/panels/line-comments.tsx"

const comment = (path: string, line: number, words: string, kind: LineComment["kind"] = "added"): LineComment => ({
  path,
  line,
  kind,
  code: `  line ${line}`,
  words,
})

describe("comments on lines", () => {
  it("are one to a line, and gone without words", () => {
    const one = withComment([], comment("a.ts", 3, "why?"))
    const changed = withComment(one, comment("a.ts", 3, "why not?", "same"))
    expect(changed.map(({ words }) => words)).toEqual(["why not?"])
    expect(withComment(changed, comment("a.ts", 3, " "))).toEqual([])
    // The line that is gone and the one in its place are two.
    expect(withComment(one, comment("a.ts", 3, "keep it", "removed"))).toHaveLength(2)
  })

  it("become one message, file by file, each with what it is about", () => {
    const all = [comment("b.ts", 1, "rename"), comment("a.ts", 9, "late"), comment("a.ts", 2, "gone?", "removed")]
    expect(messageOf(all)).toBe(
      [
        "Comments on your changes:",
        "a.ts:2 (a line that was removed)\n> line 2\ngone?",
        "a.ts:9\n> line 9\nlate",
        "b.ts:1\n> line 1\nrename",
      ].join("\n\n"),
    )
  })
})
