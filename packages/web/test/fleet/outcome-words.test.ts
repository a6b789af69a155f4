import { describe, expect, it } from "vitest"
import { outcomeVerb, outcomeWords } from "../../src/fleet/ask-words.ts"

describe("the outcome of an ask, in a word", () => {
  it.each([
    ["expired", "Expired"],
    ["newer", "newer"],
    ["constructor", "constructor"],
    ["__proto__", "__proto__"],
  ])("%s is %s", (outcome, words) => {
    expect(outcomeWords(outcome)).toBe(words)
  })

  it("[S-154] one that waits does so for an answer, not for the reader, who may be a viewer", () => {
    expect(outcomeVerb({ kind: "dialog", state: "pending" })).toBe("Waiting for an answer")
  })

  it("is of its kind: a form is accepted or declined, and never allowed", () => {
    expect(outcomeVerb({ kind: "elicitation", state: "allowed" })).toBe("Accepted")
    expect(outcomeVerb({ kind: "elicitation", state: "denied" })).toBe("Declined")
    expect(outcomeVerb({ kind: "elicitation", state: "settled" })).toBe("Answered")
    expect(outcomeVerb({ kind: "dialog", state: "denied", answer: undefined })).toBe("Cancelled")
  })
})
