import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { ScenarioText } from "../../src/index.ts"
import { lengthOf, piecesOf, wholeText } from "../../src/scenario/reply-events.ts"

const scenarioText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.record({
    repeat: fc.string({ unit: "binary", minLength: 1, maxLength: 9 }),
    times: fc.integer({ min: 1, max: 40 }),
  }),
  fc.record({
    repeat: fc.string({ unit: "binary", minLength: 1, maxLength: 9 }),
    bytes: fc.integer({ min: 1, max: 90 }),
  }),
)

test("the pieces of a text make the text, and none ends within a character", () => {
  const pace = fc.oneof(
    fc.record({ chunk: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ deltas: fc.integer({ min: 1, max: 20 }) }),
    fc.constant({}),
  )
  fc.assert(
    fc.property(scenarioText, pace, (text: ScenarioText, pace) => {
      const pieces = [...piecesOf(text, pace)]
      expect(pieces.join("")).toBe(wholeText(text))
      expect(lengthOf(text)).toBe(wholeText(text).length)
      // Half a character would come back from UTF-8 as another one.
      for (const piece of pieces) expect(Buffer.from(piece).toString()).toBe(piece)
    }),
  )
})

test("a text in bytes is as long as asked, in whole characters", () => {
  expect(wholeText({ repeat: "ab", bytes: 5 })).toBe("ababa")
  expect(wholeText({ repeat: "é", bytes: 5 })).toBe("éé")
})

test("the number of deltas is kept", () => {
  expect([...piecesOf("abcdefgh", { deltas: 4 })]).toEqual(["ab", "cd", "ef", "gh"])
  expect([...piecesOf({ repeat: "ab", times: 6 }, { deltas: 3 })]).toEqual(["abab", "abab", "abab"])
})
