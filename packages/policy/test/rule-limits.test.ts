import { evaluate, type PolicyContext, type Rule } from "@signalbox/policy"
import { parsePolicy } from "@signalbox/policy/schemas"
import { describe, expect, it } from "vitest"
import { Work } from "../src/matching.ts"
import { CONTEXT } from "./subject.ts"

const TESTS: Rule = { id: "tests", effect: "allow", tool: "Bash", input: { command: "npm test*" } }
const PUSHES: Rule = { id: "pushes", effect: "deny", tool: "Bash", input: { command: "git push*" } }
const ALL: Rule = { id: "all", effect: "allow", tool: "Bash" }

function verdict(rules: readonly Rule[], command: string, context: Partial<PolicyContext> = {}) {
  const policy = { rules: [...rules], relayAutoApproval: false }
  return evaluate(policy, { tool: "Bash", input: { command } }, { ...CONTEXT, ...context })
}

const problemsOf = (rule: Record<string, unknown>) => {
  const parsed = parsePolicy({ rules: [{ id: "r", effect: "allow", ...rule }] })
  return parsed.ok ? [] : parsed.problems
}

describe("a rule that holds only here and now", () => {
  it("[PO31] has no effect from its end on, and the reason says so", () => {
    const until = "2030-01-01T00:00:00Z"
    const end = Date.parse(until)
    expect(verdict([{ ...TESTS, until }], "npm test", { now: end - 1 }).effect).toBe("allow")
    expect(verdict([{ ...TESTS, until }], "npm test", { now: end })).toMatchObject({
      effect: "ask",
      reason: `Rule "tests" would allow this, but does not because it ended at ${until}.`,
    })
    expect(verdict([{ ...TESTS, until }], "ls", { now: end }).reason).toBe("No rule covers this.")
    expect(verdict([{ ...PUSHES, until }, ALL], "git push", { now: end - 1 }).effect).toBe("deny")
    expect(verdict([{ ...PUSHES, until }, ALL], "git push", { now: end }).effect).toBe("allow")
  })

  it("[PO31] while a fact is not known an allow that names it does not fit, and a deny may", () => {
    const limits: readonly Partial<Rule>[] = [
      { until: "2999-01-01T00:00:00Z" },
      { hours: { from: "00:00", to: "00:00" } },
      { runner: "build-1" },
      { branch: "main" },
    ]
    for (const limit of limits) {
      expect([limit, verdict([{ ...TESTS, ...limit }], "npm test").effect]).toEqual([limit, "ask"])
      expect([limit, verdict([{ ...PUSHES, ...limit }, ALL], "git push").effect]).toEqual([limit, "ask"])
      expect([limit, verdict([{ ...PUSHES, ...limit }, ALL], "ls").effect]).toEqual([limit, "allow"])
    }
    const bounded: Rule = { ...TESTS, atMost: { count: 1, per: "day" } }
    expect(verdict([bounded], "npm test").effect).toBe("ask")
  })

  it("[PO32] allows no more than its bound, in a session or on a day, and tells what to count", () => {
    const perSession: Rule = { ...TESTS, atMost: { count: 2, per: "session" } }
    const used = (session: number, day: number) => ({ used: { tests: { session, day } } })
    expect(verdict([perSession], "npm test", { used: {} })).toMatchObject({ effect: "allow", counts: ["tests"] })
    expect(verdict([perSession], "npm test", used(1, 9)).effect).toBe("allow")
    expect(verdict([perSession], "npm test", used(2, 2))).toMatchObject({
      effect: "ask",
      reason:
        'Rule "tests" would allow this, but does not because it has allowed 2 requests in this session, and may allow 2.',
    })
    const perDay: Rule = { ...TESTS, atMost: { count: 2, per: "day" } }
    expect(verdict([perDay], "npm test", used(9, 1)).effect).toBe("allow")
    expect(verdict([perDay], "npm test", used(0, 2)).effect).toBe("ask")
    expect(verdict([{ ...perDay, id: "constructor" }], "npm test", used(0, 2)).effect).toBe("allow")
    expect(verdict([TESTS], "npm test", { used: {} }).counts).toBeUndefined()
  })

  it("[PO32] each rule that allows a part of a command counts", () => {
    const builds: Rule = {
      id: "builds",
      effect: "allow",
      input: { command: "make all" },
      atMost: { count: 1, per: "day" },
    }
    const rules = [{ ...TESTS, atMost: { count: 5, per: "day" } } satisfies Rule, builds]
    expect(verdict(rules, "npm test && make all", { used: {} }).counts).toEqual(["tests", "builds"])
    const spent = { used: { builds: { session: 1, day: 1 } } }
    expect(verdict(rules, "npm test && make all", spent).effect).toBe("ask")
    expect(verdict(rules, "npm test", spent).effect).toBe("allow")
  })

  it("[PO33] holds on its runner and its branch", () => {
    expect(verdict([{ ...TESTS, runner: "build-1" }], "npm test", { runner: "build-1" }).effect).toBe("allow")
    expect(verdict([{ ...TESTS, runner: "build-1" }], "npm test", { runner: "laptop" }).reason).toContain(
      "it holds only on runner build-1",
    )
    const onMain: Rule = { ...PUSHES, branch: "main" }
    expect(verdict([onMain, ALL], "git push", { branch: "main" }).effect).toBe("deny")
    expect(verdict([onMain, ALL], "git push", { branch: "fix-1" }).effect).toBe("allow")
    expect(verdict([{ ...TESTS, branch: "fix-*" }], "npm test", { branch: "fix-1" }).effect).toBe("allow")
    expect(verdict([{ ...TESTS, branch: "fix-*" }], "npm test", { branch: "main" }).effect).toBe("ask")
  })

  const at = (time: string) => ({ now: Date.parse(time) })

  it.each([
    [{ from: "09:00", to: "17:00" }, "2030-01-07T09:00:00Z", true],
    [{ from: "09:00", to: "17:00" }, "2030-01-07T08:59:59Z", false],
    [{ from: "09:00", to: "17:00" }, "2030-01-07T17:00:00Z", false],
    [{ from: "22:00", to: "06:00" }, "2030-01-07T23:00:00Z", true],
    [{ from: "22:00", to: "06:00" }, "2030-01-07T05:59:00Z", true],
    [{ from: "22:00", to: "06:00" }, "2030-01-07T12:00:00Z", false],
    // Monday the 7th, and Sunday's night that ends on it.
    [{ from: "09:00", to: "17:00", days: ["mon"] }, "2030-01-07T12:00:00Z", true],
    [{ from: "09:00", to: "17:00", days: ["tue"] }, "2030-01-07T12:00:00Z", false],
    [{ from: "22:00", to: "06:00", days: ["sun"] }, "2030-01-07T05:00:00Z", true],
    [{ from: "22:00", to: "06:00", days: ["mon"] }, "2030-01-07T05:00:00Z", false],
    [{ from: "09:00", to: "17:00", zone: "Asia/Tokyo" }, "2030-01-07T01:00:00Z", true],
    [{ from: "09:00", to: "17:00", zone: "Asia/Tokyo" }, "2030-01-07T12:00:00Z", false],
    [{ from: "00:00", to: "00:00" }, "2030-01-07T12:00:00Z", true],
  ] as const)("[PO33] hours %j at %s: %s", (hours, time, holds) => {
    const { from, to } = hours
    const zone = "zone" in hours ? { zone: hours.zone } : {}
    const days = "days" in hours ? { days: [...hours.days] } : {}
    const rule: Rule = { ...TESTS, hours: { from, to, ...zone, ...days } }
    expect(verdict([rule], "npm test", at(time)).effect).toBe(holds ? "allow" : "ask")
    const denying: Rule = { ...PUSHES, hours: { from, to, ...zone, ...days } }
    expect(verdict([denying, ALL], "git push", at(time)).effect).toBe(holds ? "deny" : "allow")
  })
})

describe("four eyes", () => {
  const DEPLOYS: Rule = { id: "deploys", effect: "ask", input: { command: "deploy*" }, fourEyes: true }

  it("[PO34] another person must answer, whichever rule is named, and where nobody can tell", () => {
    expect(verdict([DEPLOYS, ALL], "deploy x")).toMatchObject({ effect: "ask", rule: "deploys", fourEyes: true })
    const everything: Rule = { id: "everything", effect: "ask" }
    expect(verdict([everything, DEPLOYS], "deploy x")).toMatchObject({ rule: "everything", fourEyes: true })
    expect(verdict([DEPLOYS, ALL], "$X y")).toMatchObject({ effect: "ask", fourEyes: true })
    expect(verdict([everything, DEPLOYS], "ls").fourEyes).toBeUndefined()
    expect(verdict([DEPLOYS, ALL], "ls").effect).toBe("allow")
  })

  it("[PO34] a request that takes too much work to check is none to answer alone", () => {
    const policy = { rules: [DEPLOYS], relayAutoApproval: false }
    const request = { tool: "Bash", input: { command: "ls" } }
    expect(evaluate(policy, request, CONTEXT, new Work(1))).toMatchObject({ effect: "ask", fourEyes: true })
  })
})

describe("rules with bounds, as they are written", () => {
  it("[PO16] bounds that mean nothing are told", () => {
    expect(problemsOf({ until: "2030-01-01T00:00:00+02:00", runner: "a", branch: "fix-*" })).toEqual([])
    expect(problemsOf({ hours: { from: "09:00", to: "17:30", zone: "Europe/Berlin", days: ["mon"] } })).toEqual([])
    expect(problemsOf({ atMost: { count: 20, per: "day" } })).toEqual([])
    expect(problemsOf({ effect: "ask", fourEyes: true })).toEqual([])
    expect(problemsOf({ until: "tomorrow" }).join()).toContain("must be a time such as")
    expect(problemsOf({ hours: { from: "9", to: "17:30" } }).join()).toContain("must be a time such as 09:30")
    expect(problemsOf({ hours: { from: "09:00", to: "17:30", zone: "Mars" } }).join()).toContain("time zone")
    expect(problemsOf({ effect: "deny", atMost: { count: 1, per: "day" } }).join()).toContain(
      "only an allow has a bound",
    )
    expect(problemsOf({ fourEyes: true }).join()).toContain("only an ask is answered by a person")
    expect(problemsOf({ atMost: { count: 0, per: "day" } })).toHaveLength(1)
  })
})
