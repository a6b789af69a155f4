import { describe, expect, it } from "vitest"
import { oneLine, visiblePieces } from "../../src/design/visible-text.tsx"

describe("text that somebody decides on", () => {
  it("shows what turns its direction, has no width or is a control character, by name", () => {
    expect(visiblePieces("rm \u202Etxt.exe\u200B\u001b[2K")).toEqual([
      { kind: "plain", text: "rm " },
      { kind: "hidden", name: "U+202E RLO", count: 1 },
      { kind: "plain", text: "txt.exe" },
      { kind: "hidden", name: "U+200B ZWSP", count: 1 },
      { kind: "hidden", name: "U+001B ESC", count: 1 },
      { kind: "plain", text: "[2K" },
    ])
  })

  it("shows tags that could carry a message unseen, beyond the first 65,536 characters too", () => {
    expect(visiblePieces("a\u{e0041}b")).toContainEqual({ kind: "hidden", name: "U+E0041", count: 1 })
  })

  it("says how many blank lines push the rest out of sight", () => {
    expect(visiblePieces(`echo hi${"\n".repeat(38)}rm -rf /`)).toEqual([
      { kind: "plain", text: "echo hi" },
      { kind: "blank-lines", count: 37 },
      { kind: "plain", text: "rm -rf /" },
    ])
  })

  it("[K-4] marks letters that look like ours in a word that mixes alphabets, and no others", () => {
    expect(visiblePieces("curl p\u0430ypal.com")).toEqual([
      { kind: "plain", text: "curl p" },
      { kind: "look-alike", text: "\u0430", name: "U+0430 Cyrillic" },
      { kind: "plain", text: "ypal.com" },
    ])
    expect(visiblePieces("g\u03bf\u03bfgle")).toContainEqual({
      kind: "look-alike",
      text: "\u03bf",
      name: "U+03BF Greek",
    })
    for (const text of ["привет мир", "echo привет", "Δt in µs, 10 kΩ", "αβγ", "naïve café"])
      expect(visiblePieces(text)).toEqual([{ kind: "plain", text }])
    const many = visiblePieces("p\u0430".repeat(100_000))
    expect(many.filter(({ kind }) => kind === "look-alike")).toHaveLength(500)
    // Decoys must not hide the one that matters.
    const name = "look-alike letters are not marked from here on"
    expect(many.at(-2)).toEqual({ kind: "hidden", name, count: 1 })
    expect(many.at(-1)).toMatchObject({ kind: "plain" })
  })

  it("leaves ordinary text of any script as it is", () => {
    const text = "Grüße, 世界\tעברית\nnew line"
    expect(visiblePieces(text)).toEqual([{ kind: "plain", text }])
  })

  it("takes no longer than its length for hostile text", () => {
    const text = `${"\n".repeat(200_000)}${"\u202E".repeat(200_000)}`
    expect(visiblePieces(text)).toEqual([
      { kind: "blank-lines", count: 199_999 },
      { kind: "hidden", name: "U+202E RLO", count: 200_000 },
    ])
  })

  it("[K-122] is few elements however much hides in it, and each of these characters is named", () => {
    const text = "a\u200B".repeat(20_000)
    const pieces = visiblePieces(text)
    expect(pieces.length).toBeLessThanOrEqual(1001)
    expect(pieces.filter(({ kind }) => kind === "hidden").length).toBeGreaterThan(400)
    const last = pieces.at(-1)
    const rest = last?.kind === "plain" ? last.text : ""
    expect(rest.endsWith("a⟨U+200B⟩a⟨U+200B⟩")).toBe(true)
    const inRest = rest.split("⟨U+200B⟩").length - 1
    expect(pieces.filter(({ kind }) => kind === "hidden").length + inRest).toBe(20_000)
  })
})

describe("a line of a list", () => {
  it("has nothing hidden in it and is one line", () => {
    expect(oneLine("a\u202E\n\n b\u0007c")).toBe("a⟨U+202E RLO⟩ b⟨U+0007⟩c")
    expect(oneLine("rm\u200B -rf\u001B[2K\u00A0/\r\n")).toBe("rm⟨U+200B ZWSP⟩ -rf⟨U+001B ESC⟩[2K /")
    expect(oneLine("x".repeat(1000), 10)).toBe(`${"x".repeat(9)}…`)
  })
})
