import { describe, expect, it } from "vitest"
import { codeSpans } from "../../src/transcript/content/markdown.tsx"

const toned = (text: string, language: string) =>
  codeSpans(text, language).flatMap((span) => (span.tone === undefined ? [] : [`${span.tone} ${span.text}`]))

describe("the colours of code", () => {
  it("tell keywords, texts, numbers and comments apart", () => {
    expect(toned(`const a = "if // no" + 12.5 // if\nreturn typed`, "ts")).toEqual([
      "keyword const",
      'string "if // no"',
      "number 12.5",
      "comment // if",
      "keyword return",
    ])
    expect(toned("x = 1 # one\nfor-each $#", "python")).toEqual(["number 1", "comment # one"])
    expect(toned("-- all\nSELECT a", "sql title=x")).toEqual(["comment -- all", "keyword SELECT"])
    expect(toned("+a\n-b\n c", "diff")).toEqual(["added +a\n", "removed -b\n"])
  })

  it("change no character, whatever the language and however broken the code", () => {
    const nasty = ['"never closed', "/* never closed", "`a\\`b", "'\\", "\u0000", "`".repeat(999), '"\\'.repeat(500)]
    for (const text of nasty)
      for (const language of ["ts", "sh", "sql", "diff", "klingon", ""])
        expect(
          codeSpans(text, language)
            .map((span) => span.text)
            .join(""),
        ).toBe(text)
  })
})
