import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { colourLines } from "../../src/transcript/content/code-colours.ts"
import { segmentsOf } from "../../src/transcript/content/code-text.tsx"
import { TONES } from "../../src/transcript/content/code-tones.ts"
import { languageOf } from "../../src/transcript/content/colours.ts"

/** Every stretch that has a colour, with it. */
function toned(text: string, language: string): readonly string[] {
  const lines = text.split("\n")
  return (colourLines(text, language) ?? []).flatMap((colours, at) =>
    segmentsOf(lines[at] ?? "", colours).flatMap((part) =>
      part.tone === undefined ? [] : [`${part.tone} ${part.text}`],
    ),
  )
}

const LANGUAGES = "ts json python sh go rust java css html yaml sql ruby lua diff".split(" ")

describe("the colours of code", () => {
  it.each([
    [
      "ts",
      'const a = "if // no" + 12.5 // if\nreturn x.type',
      ["keyword const", 'string "if // no"', "number 12.5", "comment // if", "keyword return"],
    ],
    ["ts", "`a\n${b}` /* c\nd */", ["string `a", "string ${b}`", "comment /* c", "comment d */"]],
    ["json", '{"a": [true, "b", 1e-3]}', ['name "a"', "keyword true", 'string "b"', "number 1e-3"]],
    [
      "python",
      '@once\ndef f(x): # one\n  """a\nb"""',
      ["name @once", "keyword def", "comment # one", 'string """a', 'string b"""'],
    ],
    ["sh", "for-each $# 'a # b' # c", ["string 'a # b'", "comment # c"]],
    ["go", "func f() { `a\\` }", ["keyword func", "string `a\\`"]],
    ["rust", "fn f<'a>(x: &'a str) { '\\n' 'x' }", ["keyword fn", "keyword str", "string '\\n'", "string 'x'"]],
    ["cpp", "#include <a>\nint x = 0xFF;", ["keyword #include", "keyword int", "number 0xFF"]],
    ["css", "@media x { color: red; /* a */ }", ["keyword @media", "name color", "comment /* a */"]],
    [
      "html",
      '<a href="b">if</a><!-- c -->',
      ["keyword <a", "name href", 'string "b"', "keyword </a", "comment <!-- c -->"],
    ],
    ["yaml", "url: http://a # b\nit: don't", ["name url", "comment # b", "name it"]],
    ["sql", "-- all\nSelect 'it''s'", ["comment -- all", "keyword Select", "string 'it'", "string 's'"]],
    ["diff", "+a\n-b\n c", ["added +a", "removed -b"]],
  ])("[X-134] tell keywords, texts, numbers, names and comments apart: %s", (language, text, expected) => {
    expect(toned(text, language)).toEqual(expected)
  })

  it("[X-134] are none for a language that nobody told us about", () => {
    expect(colourLines("a", "klingon")).toBeUndefined()
    expect(colourLines("a", "constructor")).toBeUndefined()
    expect(["/a/b.test.TS", "Dockerfile", "C:\\x\\a.py", ""].map(languageOf)).toEqual(["ts", "dockerfile", "py", ""])
  })

  it("[X-134] stay within each line and in order, so that no character is lost, whatever the code", () => {
    const text = fc.string({ unit: fc.constantFrom(...Array.from("'\"`\\/*#-<>!=:@$a1 \n\r\t.{}é😀")), maxLength: 200 })
    fc.assert(
      fc.property(text, fc.constantFrom(...LANGUAGES), (code, language) => {
        const lines = code.split("\n")
        const colours = colourLines(code, language) ?? []
        expect(colours).toHaveLength(lines.length)
        for (const [at, line] of lines.entries()) {
          const flat = colours[at] ?? []
          for (let index = 0; index < flat.length; index += 3) {
            const [from = -1, to = -1, tone = -1] = flat.slice(index, index + 3)
            expect(from).toBeGreaterThanOrEqual(index === 0 ? 0 : (flat[index - 2] ?? 0))
            expect(to).toBeGreaterThan(from)
            expect(to).toBeLessThanOrEqual(line.length)
            expect(TONES[tone]).toBeDefined()
          }
          const segments = segmentsOf(line, flat)
          expect(segments.map((segment) => segment.text).join("")).toBe(line)
        }
      }),
    )
  })

  it("[X-134] take time that grows with the length alone, however hostile the code", () => {
    const nasty = ['"\\', "'", "`", "/*", "<a ", "<", "#", "-", "(", "a:", "\n", "'''", "1e", "@", "\\'"]
    const started = process.cpuUsage()
    for (const piece of nasty)
      for (const language of LANGUAGES) colourLines(piece.repeat(Math.ceil(30_000 / piece.length)), language)
    // 210 texts of 30,000 characters: a quadratic one takes a minute.
    expect(process.cpuUsage(started).user).toBeLessThan(15_000_000)
  })

  it("[X-130] and what changed cut a line together", () => {
    const parts = [
      { text: "const a = ", isChanged: false },
      { text: "12 //", isChanged: true },
      { text: " b", isChanged: false },
    ]
    const [colours] = colourLines("const a = 12 // b", "ts") ?? []
    expect(
      segmentsOf("const a = 12 // b", colours, parts).map((part) => [part.text, part.tone, part.isChanged]),
    ).toEqual([
      ["const", "keyword", false],
      [" a = ", undefined, false],
      ["12", "number", true],
      [" ", undefined, true],
      ["//", "comment", true],
      [" b", "comment", false],
    ])
  })
})
