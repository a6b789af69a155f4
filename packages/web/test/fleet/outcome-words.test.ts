import { describe, expect, it } from "vitest"
import { outcomeWords } from "../../src/fleet/outcome-words.ts"

describe("the outcome of an ask, in a word", () => {
  it.each([
    ["expired", "Nobody answered"],
    ["newer", "newer"],
    ["constructor", "constructor"],
    ["__proto__", "__proto__"],
  ])("%s is %s", (outcome, words) => {
    expect(outcomeWords(outcome)).toBe(words)
  })
})
