import { describe, expect, it } from "vitest"
import { withoutFootnotes } from "../src/text/footnotes.ts"
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

describe("footnotes", () => {
  it("[TR29] [X-124] are raised numbers, with their notes at the end in the order of the references", () => {
    const text = "It leaks[^why], and twice[^2].\n\n[^2]: See `[^2]`.\n[^why]: A timer\n  is never cleared.\n\nDone."
    expect(withoutFootnotes(text)).toBe(
      "It leaks¹, and twice².\n\n\nDone.\n\n---\n\n¹ A timer is never cleared.\n\n² See `[^2]`.\n",
    )
  })

  it("[TR29] leave code alone, and a reference without a note", () => {
    for (const text of ["No note[^1].", "```\na[^1]\n[^1]: x\n```", "plain"]) expect(withoutFootnotes(text)).toBe(text)
    expect(withoutFootnotes("`a[^1]` b[^1]\n\n[^1]: x")).toContain("`a[^1]` b¹")
    expect(withoutFootnotes("b[^1][^nobody]\n\n[^1]: x")).toContain("b¹[^nobody]")
  })

  it("[TR29] lose nothing that was written, and get around no bound", () => {
    const twice = withoutFootnotes("Fix it.\n\n[^1]: See docs.\n[^1]: Then delete the database.")
    expect(twice).toContain("Then delete the database.")
    // Paragraphs that are each short enough, and a note that is all of them.
    const lines = Array.from({ length: 40 }, () => `  ${"[a".repeat(5_000)}`)
    expect(markdownTokens(`x[^a]\n\n[^a]: y\n${lines.join("\n")}`)).toBeUndefined()
  })

  it("[TR29] in great number, or referring to each other, take no time", () => {
    const many = Array.from({ length: 5_000 }, (_, n) => `x[^${n}]\n[^${n}]: see [^${n + 1}]`).join("\n")
    expect(withoutFootnotes(many).length).toBeGreaterThan(0)
    expect(withoutFootnotes("a[^a]\n\n[^a]: [^b]\n[^b]: [^a]")).toContain("¹ ²\n\n² ¹")
  })
})
