import { describe, expect, it } from "vitest"
import { type Rule, sentenceOf } from "../../src/policy/rule-words.ts"

const said = (rule: Rule) =>
  sentenceOf(rule)
    .map((phrase) => (typeof phrase === "string" ? phrase : `\`${phrase.code}\``))
    .join("")

describe("a rule in words", () => {
  it("says what it does, with which tool, and when", () => {
    const tests = { id: "tests", effect: "allow", tool: "Bash", input: { command: ["npm test", "npm test *"] } }
    expect(said(tests)).toBe("Allow `Bash` when the command matches `npm test` or `npm test *`.")
    expect(said({ ...tests, cwd: "/srv/**", mode: "plan" })).toBe(
      "Allow `Bash` when the command matches `npm test` or `npm test *`, in `/srv/**`, in mode `plan`.",
    )
    expect(said({ id: "one", effect: "deny", tool: "Write", input: { file_path: String.raw`a\*b` } })).toBe(
      String.raw`Deny ${"`Write`"} when the file is ${"`a\\*b`"}.`,
    )
    expect(said({ id: "all", effect: "ask" })).toBe("Ask about any tool.")
  })

  it("names every field of the input, known or not", () => {
    const rule = { id: "x", effect: "allow", tool: "mcp__db__query", input: { database: "test", url: "https://a/*" } }
    expect(said(rule)).toBe("Allow `mcp__db__query` when `database` is `test` and the URL matches `https://a/*`.")
  })

  it("tells how long a request waits, and what limits the rule", () => {
    expect(said({ id: "x", effect: "ask", tool: "Bash", expiresAfterMs: 600_000, maxExtensions: 2 })).toBe(
      "Ask about `Bash`, for 10 min at most, with more time up to 2 times.",
    )
    expect(said({ id: "x", effect: "allow", tool: "Edit", atMost: { count: 20, per: "day" }, fourEyes: false })).toBe(
      "Allow `Edit`, at most 20 times per day.",
    )
    expect(said({ id: "x", effect: "allow", tool: "Bash", branch: "release/*" })).toBe(
      "Allow `Bash`, on branch `release/*`.",
    )
    expect(
      said({ id: "x", fourEyes: true, maxExtensions: 0, expiresAfterMs: 60_000, effect: "ask", cwd: "/srv" }),
    ).toBe(
      "Ask about any tool, in `/srv`, for 1 min at most, without more time, allowed only by someone who didn't start the session.",
    )
    const hours = { from: "09:00", to: "17:30", days: ["mon", "fri"] }
    expect(said({ id: "x", effect: "ask", runner: "atlas", hours, fourEyes: true })).toBe(
      "Ask about any tool, on machine `atlas`, from 09:00 to 17:30 on mon, fri (UTC), allowed only by someone who didn't start the session.",
    )
  })

  it("leaves out nothing that it does not know", () => {
    expect(said({ id: "x", effect: "allow", tool: "Edit", weather: { is: "fine" } })).toBe(
      'Allow `Edit`, with `weather: {"is":"fine"}`.',
    )
    expect(said({ id: "x", effect: "allow", input: { count: 3 } })).toBe("Allow any tool when `count` is `3`.")
  })
})
