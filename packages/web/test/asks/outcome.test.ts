import { describe, expect, it } from "vitest"
import { outcomeSentence, settledWords, waitWords } from "../../src/asks/request-words.ts"
import { askOf } from "./ask-fixture.ts"

const settledAt = "2031-01-01T12:00:08Z"
const context = { me: "me", answer: { name: "open" } } as const
const lost = (isDenial: boolean) => ({ me: "me", answer: { name: "lost", isDenial } }) as const

describe("what came of an ask", () => {
  it("is told to whoever decided, with how long it took", () => {
    const mine = askOf({ state: "allowed", via: "person", settledBy: "me", settledAt })
    expect(outcomeSentence(mine, context)).toBe("You allowed this after 8 s.")
    expect(outcomeSentence({ ...mine, kind: "question" }, context)).toBe("You answered this after 8 s.")
    expect(outcomeSentence({ ...mine, kind: "elicitation", state: "denied" }, context)).toMatch(/^You declined this/)
  })

  it("names whoever else decided, and when", () => {
    const other = askOf({ state: "denied", via: "person", settledBy: "ops-phone", settledAt })
    expect(outcomeSentence(other, context)).toMatch(/^ops-phone denied this at \d\d:\d\d\.$/)
  })

  it("says who was first, and that one's own answer was not sent", () => {
    const other = askOf({ state: "denied", via: "person", settledBy: "ops-phone", settledAt })
    expect(outcomeSentence(other, lost(false))).toBe("ops-phone denied this first. Your answer was not sent.")
    expect(outcomeSentence({ ...other, state: "allowed" }, lost(true))).toBe(
      "ops-phone allowed this first. Your denial was not sent.",
    )
    expect(outcomeSentence({ ...other, settledBy: "me" }, lost(false))).toMatch(
      /^You denied this in another window first/,
    )
  })

  it("names the rule that decided", () => {
    const ruled = askOf({ state: "allowed", via: "policy", rule: "npm-safe", settledBy: "rule npm-safe", settledAt })
    expect(outcomeSentence(ruled, context)).toBe("Allowed by rule npm-safe.")
  })

  it("has a sentence for each end that nobody decided, and says denied of none", () => {
    const ends = ["expired", "cancelled", "superseded", "orphaned"] as const
    const sentences = ends.map((state) => outcomeSentence(askOf({ state, settledAt: "2031-01-01T12:30:00Z" }), context))
    expect(sentences).toEqual([
      "Nobody answered within 30 min. Claude was told.",
      "Claude withdrew this request.",
      "Replaced by a newer request.",
      "The agent ended before this was answered.",
    ])
    expect(outcomeSentence(askOf({ state: "cancelled", settledAt }), lost(false))).toBe(
      "Claude withdrew this request. Your answer was not sent.",
    )
  })

  it("tells when it was settled and how long it had waited", () => {
    const at = "2031-01-01T12:00:00Z"
    const now = Date.parse(settledAt)
    expect(settledWords({ askedAt: at }, now)).toBeUndefined()
    expect(settledWords({ askedAt: at, settledAt }, now)).toMatch(/^settled \d\d:\d\d:08, after 8 s$/)
    expect(settledWords({ askedAt: at, settledAt: at }, now)).toMatch(/, immediately$/)
    expect(settledWords({ askedAt: at, settledAt }, now + 40 * 86_400_000)).toMatch(/^settled [12] Jan \d\d:/)
  })

  it("tells times as one says them", () => {
    expect([400, 8000, 90_000, 600_000, 3_600_000, 5_400_000].map(waitWords)).toEqual([
      "0 s",
      "8 s",
      "1 min 30 s",
      "10 min",
      "1 h",
      "1 h 30 min",
    ])
  })
})
