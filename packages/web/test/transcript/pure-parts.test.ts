import { describe, expect, it } from "vitest"
import { ansiSpans } from "../../src/transcript/content/output-text.tsx"
import { pictureSize } from "../../src/transcript/content/picture-size.ts"
import { stepFollow } from "../../src/transcript/list/follow.ts"

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
