import { describe, expect, it } from "vitest"
import { failureLine } from "../../src/sessions/entry-words.ts"
import { sessionOf } from "../session-fixture.ts"

describe("[S-156] why a session failed", () => {
  it.each([
    ["error_max_turns", "Turn limit reached"],
    ["newer", "It said this"],
    ["constructor", "It said this"],
  ])("with the result %s is: %s", (subtype, words) => {
    const lastResult = { subtype, isError: true, at: "2031-01-01T00:00:00.000Z" }
    expect(failureLine(sessionOf({ lastResult, lastLine: "It said this" }))).toBe(words)
  })
})
