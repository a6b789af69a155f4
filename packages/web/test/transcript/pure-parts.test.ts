import { describe, expect, it } from "vitest"
import { changedParts, countsOf, diffTexts, patchOf } from "../../src/transcript/content/line-diff.ts"
import { ansiSpans } from "../../src/transcript/content/output-text.tsx"
import { pictureSize } from "../../src/transcript/content/picture-size.ts"
import { stepFollow } from "../../src/transcript/list/follow.ts"

const shape = (hunks: ReturnType<typeof diffTexts>) =>
  hunks.map(({ lines }) => lines.map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`))

describe("a diff of lines", () => {
  it("shows what changed with three lines around it, and numbers both sides", () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join("\n")
    const hunks = diffTexts(before, before.replace("line 10", "line ten\nand more"))
    expect(shape(hunks)).toEqual([
      [" line 7", " line 8", " line 9", "-line 10", "+line ten", "+and more", " line 11", " line 12", " line 13"],
    ])
    expect(hunks[0]?.lines[4]).toMatchObject({ after: 10 })
    expect(countsOf(hunks)).toEqual({ added: 2, removed: 1 })
  })

  it("of a new file is all added, of equal texts nothing", () => {
    expect(countsOf(diffTexts("", "a\nb\n"))).toEqual({ added: 2, removed: 0 })
    expect(diffTexts("same", "same")).toEqual([])
  })

  it("[X-22] of texts too large to compare still has every line of both, soon", () => {
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

  it("is found in a file of any length whose changes are few", () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`)
    const after = lines.with(5, "five").toSpliced(4500, 1).join("\n")
    expect(countsOf(diffTexts(lines.join("\n"), after))).toEqual({ added: 1, removed: 2 })
  })

  it("[X-22] has the words that changed within a line, and none of lines with little in common", () => {
    const partsOf = (before: string, after: string) =>
      [...changedParts(diffTexts(before, after).flatMap(({ lines }) => lines)).values()].map((parts) =>
        parts.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join(""),
      )
    expect(partsOf("const tick = 50 // ms", "const tick = clock.now() // ms")).toEqual([
      "const tick = [50] // ms",
      "const tick = [clock.now()] // ms",
    ])
    expect(partsOf("one thing", "quite another matter")).toEqual([])
    expect(partsOf(`a ${"x".repeat(2000)}`, `b ${"x".repeat(2000)}`)).toEqual([])
  })

  it("is taken from the CLI's own patch, and nothing else is taken for one", () => {
    const patch = [{ oldStart: 3, newStart: 3, oldLines: 1, newLines: 1, lines: [" a", "-b", "+c", "\\ No newline"] }]
    expect(patchOf(patch)?.[0]?.lines).toEqual([
      { kind: "same", text: "a", before: 3, after: 3 },
      { kind: "removed", text: "b", before: 4 },
      { kind: "added", text: "c", after: 4 },
    ])
    for (const wrong of [undefined, [], "x", [{ lines: [1] }], [null]]) expect(patchOf(wrong)).toBeUndefined()
  })
})

describe("terminal output", () => {
  it("keeps colours and weight, and does nothing else that a terminal would", () => {
    expect(ansiSpans("\u001b[31;1mbad\u001b[0m ok\u001b[2J\u001b]0;title\u0007!")).toEqual([
      { text: "bad", tone: "danger", bold: true },
      { text: " ok" },
      { text: "!" },
    ])
  })

  it("shows what a progress bar stood at last", () => {
    expect(
      ansiSpans("10 %\r50 %\r100 %\r\ndone")
        .map(({ text }) => text)
        .join(""),
    ).toBe("100 %\ndone")
  })
})

describe("following the end", () => {
  const at = (top: number, distanceToEnd: number) => ({ top, distanceToEnd })

  it("ends when the reader turns upward, and begins again at the end", () => {
    expect(stepFollow(true, { type: "moved", from: at(100, 0), to: at(70, 30) })).toBe(false)
    expect(stepFollow(false, { type: "moved", from: at(50, 60), to: at(90, 20) })).toBe(true)
    expect(stepFollow(false, { type: "moved", from: at(50, 60), to: at(60, 50) })).toBe(false)
  })

  it("does not begin or end because something became shorter", () => {
    expect(stepFollow(true, { type: "moved", from: at(100, 0), to: at(60, 0) })).toBe(true)
    expect(stepFollow(false, { type: "moved", from: at(50, 10), to: at(50, 5) })).toBe(false)
  })

  it("ends when something is opened and begins with the button", () => {
    expect(stepFollow(true, { type: "hold" })).toBe(false)
    expect(stepFollow(false, { type: "to-end" })).toBe(true)
  })
})

describe("the size of a picture", () => {
  const png = (width: number, height: number) => {
    const head = Buffer.alloc(40)
    head.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
    head.writeUInt32BE(width, 16)
    head.writeUInt32BE(height, 20)
    return `data:image/png;base64,${head.toString("base64")}`
  }

  it("is known before it is drawn where its head tells it", () => {
    expect(pictureSize(png(640, 480))).toEqual({ width: 640, height: 480 })
    const gif = Buffer.from([...Buffer.from("GIF89a"), 32, 0, 16, 0, 0, 0])
    expect(pictureSize(`data:image/gif;base64,${gif.toString("base64")}`)).toEqual({ width: 32, height: 16 })
    // A camera's notes come first.
    const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 6, 1, 2, 3, 4, 0xff, 0xc2, 0, 17, 8, 1, 0, 2, 0, 3, 0, 0])
    expect(pictureSize(`data:image/jpeg;base64,${jpeg.toString("base64")}`)).toEqual({ width: 512, height: 256 })
    const webp = Buffer.alloc(30)
    webp.write("RIFF____WEBPVP8X")
    webp.set([99, 0, 0, 49, 0, 0], 24)
    expect(pictureSize(`data:image/webp;base64,${webp.toString("base64")}`)).toEqual({ width: 100, height: 50 })
  })

  it("is not believed, or not known, of anything else", () => {
    for (const source of [
      png(0, 4),
      png(4_000_000_000, 4),
      "data:image/png;base64,AAAA",
      "data:image/jpeg;base64,/9j/",
      "x",
    ])
      expect(pictureSize(source)).toBeUndefined()
  })
})
