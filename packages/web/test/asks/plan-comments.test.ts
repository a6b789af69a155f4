import { describe, expect, it } from "vitest"
import { allowedPromptsOf, feedbackOf, quoteOf } from "../../src/asks/forms/plan-comments.ts"

describe("comments on a plan", () => {
  it("are quoted, each below what it is about", () => {
    const comments = [
      { quote: "1. Drop the table\n2. Make it anew", text: " Keep the data. " },
      { quote: "Ship", text: "Not on a Friday." },
    ]
    expect(feedbackOf(comments)).toBe(
      "> 1. Drop the table\n> 2. Make it anew\n\nKeep the data.\n\n> Ship\n\nNot on a Friday.",
    )
    expect(feedbackOf([])).toBe("")
  })

  it("quote no whole plan", () => {
    expect(quoteOf(`  ${"x".repeat(5000)} `)).toHaveLength(600)
  })
})

describe("what a plan asks to have allowed", () => {
  it("is listed as far as it can be read", () => {
    const allowedPrompts = [{ tool: "Bash", prompt: "run the tests" }, { prompt: 7 }, "rubbish", { prompt: "install" }]
    expect(allowedPromptsOf({ allowedPrompts })).toEqual(["Bash: run the tests", "install"])
    expect(allowedPromptsOf({})).toEqual([])
  })
})
