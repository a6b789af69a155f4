import { describe, expect, it } from "vitest"
import { markdownTokens, safeLink } from "../src/text/markdown.ts"

describe("markdown that is read as such", () => {
  it.each([
    ["prose", "# Title\n\nSome **bold** words.\n\n> quoted\n>> twice\n\n- a\n  - b\n    - c\n      1. d"],
    ["a long listing in a fence", `\`\`\`\n${"**a ".repeat(20_000)}\n\`\`\`\nand on`],
    ["a long text of many paragraphs", "words and words. \n\n".repeat(5000)],
    ["an indented line of code", `${" ".repeat(80)}return 1`],
  ])("is %s", (_name, text) => {
    expect(markdownTokens(text)?.length).toBeGreaterThan(0)
  })

  it.each([
    ["quotes in quotes without end", `${">".repeat(2000)} x`],
    ["lists in lists without end", Array.from({ length: 600 }, (_, n) => `${"  ".repeat(n)}- x`).join("\n")],
    ["lists in lists on one line", "- ".repeat(500)],
    ["marks that never close", "**a ".repeat(20_000)],
    ["marks in marks, deeper than a stack", `${"*".repeat(5000)}a${"*".repeat(5000)}`],
    ["marks in marks, deeper than anybody writes", `${"*".repeat(300)}a${"*".repeat(300)}`],
  ])("is not %s", (_name, text) => {
    expect(markdownTokens(text)).toBeUndefined()
  })

  it("is deep enough for anything that is tame", () => {
    const deepest = [
      `${">".repeat(20)} x`,
      Array.from({ length: 30 }, (_, n) => `${"  ".repeat(n)}- x`).join("\n"),
      "- ".repeat(11),
    ]
    for (const text of deepest) {
      expect(markdownTokens(text)?.length).toBeGreaterThan(0)
    }
  })
})

describe("a link", () => {
  it.each(["http://a.example/x", "https://a.example", "mailto:a@example.com"])("may lead to %s", (address) => {
    expect(safeLink(address)?.href).toContain(address)
  })

  it.each(["javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "file:///etc/passwd", "/x", "x", ""])(
    "may not lead to %j",
    (address) => {
      expect(safeLink(address)).toBeUndefined()
    },
  )
})
