import { describe, expect, it } from "vitest"
import { plainLine } from "../../src/sessions/entry-words.ts"

describe("[S-156] a line of markdown, as it would be said", () => {
  it.each([
    ["**Done.** All tests pass", "Done. All tests pass"],
    ["It is *really* done, __all__ of it, ~~nearly~~", "It is really done, all of it, nearly"],
    ["***Both*** and _one_", "Both and one"],
    ["Run `npm test` **after `npm ci`** now", "Run npm test after npm ci now"],
    ["## Summary", "Summary"],
    ["### Summary ###", "Summary"],
    ["> - [x] **Fix** the clock", "Fix the clock"],
    ['3. See [the docs](https://example.org/a_b_c "title")', "See the docs"],
    ["![A chart](chart.png) and <https://example.org>", "A chart and https://example.org"],
    ["| **Name** | `value` | --- |", "Name, value"],
  ])("%s", (line, said) => expect(plainLine(line)).toBe(said))

  it.each([
    ["snake_case_names and a_b"],
    ["2 * 3 * 4 = 24, 2*3*4 too"],
    ["2 ** 3 is 8"],
    ["#1 is fixed, C# is not"],
    ["a < b > c"],
  ])("%s stays as it is", (line) => expect(plainLine(line)).toBe(line))

  it("what stands in code stays as it is", () => {
    expect(plainLine("Call `f(**options)` and `__init__`")).toBe("Call f(**options) and __init__")
    expect(plainLine("A ``back`tick``")).toBe("A back`tick")
    expect(plainLine("5 \\* 3, not \\_this\\_")).toBe("5 * 3, not _this_")
  })

  it("half of a pair, where the line was cut, goes too", () => {
    expect(plainLine("the end of it** and more")).toBe("the end of it and more")
    expect(plainLine("and so **it")).toBe("and so it")
    expect(plainLine("test` passes")).toBe("test passes")
    expect(plainLine(". Then it **ended**")).toBe("Then it ended")
  })

  it("a line without a word is empty", () => {
    for (const line of ["---", "```", "| --- | :-: |", "***", ""]) expect(plainLine(line)).toBe("")
  })

  it("takes no longer for marks without end", () => {
    const line = `${"*_".repeat(5_000)}${"`".repeat(5_000)}${"[".repeat(5_000)}`
    expect(plainLine(line)).toBe("")
  })
})
