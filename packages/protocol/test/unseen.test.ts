import { describe, expect, it } from "vitest"
import { hasUnseen, replaceUnseen, unseenIn, unseenName, unseenNumber } from "../src/unseen.ts"

const shown = (text: string, readFor: "decision" | "prose") =>
  replaceUnseen(text, readFor, (character) => `<${unseenNumber(character)}>`)

/** Every character that one of the tables before this one knew, and their neighbours in kind. */
const RANGES: readonly (readonly [from: number, to: number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xe000, 0xf8ff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
]
/** Left alone in prose wherever they stand. */
const PROSE_MAY = (code: number) =>
  [0xa0, 0x202f, 0x2800, 0x3000].includes(code) ||
  (code >= 0xe000 && code <= 0xf8ff) ||
  (code >= 0xfff0 && code <= 0xfff8)

describe("characters that cannot be seen", () => {
  it("[TR25] are all in the one table, for a decision and, but for blanks and private shapes, for prose", () => {
    const missed: string[] = []
    for (const [from, to] of RANGES) {
      for (let code = from; code <= to; code++) {
        const character = String.fromCodePoint(code)
        if (!hasUnseen(`a${character}b`)) missed.push(unseenNumber(character))
        const isUnassigned = /\p{Cn}/u.test(character)
        if (!PROSE_MAY(code) && !isUnassigned && !hasUnseen(`a${character}b`, "prose")) {
          missed.push(`${unseenNumber(character)} in prose`)
        }
      }
    }
    expect(missed).toEqual([])
  })

  it("[TR25] are none of what people write", () => {
    const prose = "Grüße, 世界\tעברית\nnew line, ❤️ 👩‍👩‍👧 1️⃣ 👍🏽, क्‍ष, می‌خواهم, 葛󠄀, ½ ™ ☃"
    expect(shown(prose, "prose")).toBe(prose)
    const plain = "Grüße, 世界\tעברית\nnew line ☃ ½"
    expect(shown(plain, "decision")).toBe(plain)
  })

  it("[TR25] a joiner or a sign of style outside its place is one, in prose too", () => {
    expect(shown("su\u200ddo r\u200cm a\ufe0f 1\ufe0f b\u{e0100}", "prose")).toBe(
      "su<U+200D>do r<U+200C>m a<U+FE0F> 1<U+FE0F> b<U+E0100>",
    )
    expect(shown("👩‍👩 ❤️", "decision")).toBe("👩<U+200D>👩 ❤<U+FE0F>")
  })

  it("[TR25] have a number, and those that people know a name", () => {
    expect(unseenName("\u202e")).toBe("U+202E RLO")
    expect(unseenName("\u{e0041}")).toBe("U+E0041")
    expect([...unseenIn("a\u0007b\u200b", "prose")].map(({ index }) => index)).toEqual([1, 3])
  })
})
