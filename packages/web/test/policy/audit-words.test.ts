import { describe, expect, it } from "vitest"
import { actorOf, outcomeOf, placeOf, requestOf, subjectOf, verdictIn, wishOf } from "../../src/policy/audit-words.ts"

describe("the audit in words", () => {
  it("takes its filters from the address, and asks the hub for them", () => {
    const wish = wishOf(new URLSearchParams("by=ada&machine=m1&outcome=ask/denied&tool=&rule= &colour=red"))
    expect(wish).toEqual({ by: "ada", machine: "m1", outcome: "ask/denied" })
    expect(requestOf(wish)).toEqual({ by: "ada", runner: "m1", what: "ask/denied" })
    expect(requestOf(wishOf(new URLSearchParams()))).toEqual({})
  })

  it("names each outcome, also one that nobody knows yet", () => {
    expect(outcomeOf("ask/allowed")).toBe("Allowed")
    expect(outcomeOf("policy/changed")).toBe("Policy changed")
    expect(outcomeOf("session/not-enforced")).toBe("Not enforced")
    expect(outcomeOf("control/rewind_files")).toBe("Control: rewind files")
    expect(outcomeOf("zebra")).toBe("zebra")
  })

  it("says what a decision was about, in a line", () => {
    const details = { kind: "tool", toolName: "Bash", input: { command: "npm ci\nnpm test" } }
    expect(subjectOf({ what: "ask/allowed", details })).toBe("$ npm ci npm test")
    expect(subjectOf({ what: "token/created", details: { name: "ops", role: "viewer" } })).toBe("ops")
    expect(subjectOf({ what: "grant/revoked", details: {} })).toBe("")
    const forced = { version: 3, forced: { count: 2, examples: [] } }
    expect(subjectOf({ what: "policy/changed", details: forced })).toBe("version 3, forced against 2 denials")
    expect(subjectOf({ what: "policy/changed", details: { forced: { count: 0 } } })).toBe("forced without a check")
  })

  it("takes the policy's verdict from the details, and leaves out what it cannot read", () => {
    const why = { rules: [{ id: "tests", place: 1 }], change: "To be asked, remove it." }
    const reason = 'Rule "tests" allows this.'
    expect(verdictIn({ reason, why })).toEqual({ reason, why })
    expect(verdictIn({ reason, why: { rules: "tests" } })).toEqual({ reason })
    expect(verdictIn({ why })).toBeUndefined()
  })

  it("says who or what it was, and where", () => {
    expect(actorOf({ by: "ada", via: "person", details: {} }, "ada").words).toBe("You")
    expect(actorOf({ by: "ada", via: "person", details: {} }, "bob").words).toBe("ada")
    expect(actorOf({ by: null, via: "policy", details: { rule: "tests" } }, "bob")).toEqual({
      words: "Rule",
      rule: "tests",
    })
    expect(actorOf({ by: null, via: "timeout", details: {} }, "bob").words).toBe("Nobody")
    expect(actorOf({ by: null, via: "agent", details: {} }, "bob").words).toBe("Claude")
    expect(placeOf({ sessionId: "s 1", details: { seq: 12 } })).toBe("/s/s%201?seq=12")
    expect(placeOf({ sessionId: "s1", details: {} })).toBe("/s/s1")
    expect(placeOf({ sessionId: null, details: {} })).toBeUndefined()
  })
})
