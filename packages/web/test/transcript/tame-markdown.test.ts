import { marked } from "marked"
import { describe, expect, it } from "vitest"
import { isTame } from "../../src/transcript/content/markdown.tsx"

describe("markdown that is read as such", () => {
  it.each([
    ["prose", "# Title\n\nSome **bold** words.\n\n> quoted\n>> twice\n\n- a\n  - b\n    - c\n      1. d"],
    ["a long listing in a fence", `\`\`\`\n${"**a ".repeat(20_000)}\n\`\`\`\nand on`],
    ["a long text of many paragraphs", "words and words. \n\n".repeat(5000)],
    ["an indented line of code", `${" ".repeat(80)}return 1`],
  ])("is %s", (_name, text) => {
    expect(isTame(text)).toBe(true)
  })

  it.each([
    ["quotes in quotes without end", `${">".repeat(2000)} x`],
    ["lists in lists without end", Array.from({ length: 600 }, (_, n) => `${"  ".repeat(n)}- x`).join("\n")],
    ["lists in lists on one line", "- ".repeat(500)],
    ["marks that never close", "**a ".repeat(20_000)],
  ])("is not %s", (_name, text) => {
    expect(isTame(text)).toBe(false)
  })

  it("is deep enough for anything that is tame", () => {
    const deepest = [
      `${">".repeat(20)} x`,
      Array.from({ length: 30 }, (_, n) => `${"  ".repeat(n)}- x`).join("\n"),
      "- ".repeat(11),
    ]
    for (const text of deepest) {
      expect(isTame(text)).toBe(true)
      expect(marked.lexer(text).length).toBeGreaterThan(0)
    }
  })
})
