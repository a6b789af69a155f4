import { parsePolicy } from "@signalbox/policy/schemas"
import { describe, expect, it } from "vitest"
import { formOf, hubProblems, namedAfter, problemsIn, ruleOf } from "../../src/policy/rule-form.ts"

const RULE = {
  id: "deploys",
  effect: "ask",
  tool: "Bash",
  input: { command: ["deploy", "deploy *"], description: "*" },
  cwd: "/srv/**",
  expiresAfterMs: 600_000,
  maxExtensions: 0,
  reason: "Somebody looks first.",
}

describe("a rule as a form", () => {
  it("is the same rule again, with what the form has no control for", () => {
    expect(ruleOf(formOf(RULE))).toEqual(RULE)
    const later = { ...RULE, until: "2031-01-01T00:00:00Z", fourEyes: true, branch: "main", hours: { from: "09:00" } }
    expect(ruleOf(formOf(later))).toEqual(later)
    const bounded = { id: "x", effect: "allow", runner: "atlas", atMost: { count: 3, per: "day" } }
    expect(ruleOf(formOf(bounded))).toEqual(bounded)
    expect(ruleOf(formOf({ id: "x", effect: "deny", message: "No." }))).toEqual({
      id: "x",
      effect: "deny",
      message: "No.",
    })
  })

  it("keeps only what goes with its effect", () => {
    const allowed = ruleOf({ ...formOf({ ...RULE, message: "no" }), effect: "allow" })
    expect(allowed).not.toHaveProperty("expiresAfterMs")
    expect(allowed).not.toHaveProperty("maxExtensions")
    expect(allowed).not.toHaveProperty("message")
  })

  it("says what is wrong without asking the hub", () => {
    const form = formOf(RULE)
    expect(problemsIn(form, new Set())).toEqual(new Map())
    expect([...problemsIn(form, new Set(["deploys"])).keys()]).toEqual(["id"])
    const conditions = [
      { field: "", patterns: "x" },
      { field: "command", patterns: " \n" },
      { field: "command", patterns: "y" },
    ]
    const wrong = { ...form, texts: { ...form.texts, id: " " }, conditions, minutes: "soon", extensions: "-1" }
    expect([...problemsIn(wrong, new Set()).keys()]).toEqual([
      "id",
      "field.0",
      "input.command",
      "field.2",
      "expiresAfterMs",
      "maxExtensions",
    ])
    expect(problemsIn({ ...wrong, effect: "allow" }, new Set()).has("expiresAfterMs")).toBe(false)
  })

  it("[P-15] holds at its hours: both times, and the days and zone if they are named", () => {
    const form = formOf({ id: "x", effect: "ask" })
    const days = ["sat", "sun"]
    const wrong = (hours: Partial<typeof form.hours>) =>
      problemsIn({ ...form, hours: { ...form.hours, ...hours } }, new Set()).has("hours")
    expect([wrong({}), wrong({ from: "09:00", to: "17:30" }), wrong({ from: "00:00", to: "00:00", days })]).toEqual([
      false,
      false,
      false,
    ])
    for (const hours of [{ from: "09:00" }, { days }, { from: "09:00", to: "09:00" }, { from: "00:00", to: "00:00" }])
      expect(wrong(hours), JSON.stringify(hours)).toBe(true)
    // A time zone alone says nothing.
    expect(ruleOf({ ...form, hours: { ...form.hours, zone: "UTC" } })).not.toHaveProperty("hours")
    const night = { from: "22:00", to: "06:00", zone: "Europe/Berlin", days }
    expect(ruleOf(formOf({ id: "x", effect: "ask", hours: night }))["hours"]).toEqual(night)
    const rule = { id: "x", effect: "ask", hours: { from: "9", to: "17:00", zone: "Nowhere" } }
    const read = parsePolicy({ rules: [rule] })
    const found = hubProblems(read.ok ? [] : read.problems, rule, 0)
    expect([...found.keys()].sort()).toEqual(["hours", "hours.zone"])
    expect(found.get("hours.zone")).toMatch(/^must be the name of a time zone/)
  })

  it("counts in whole numbers", () => {
    const form = formOf({ id: "x", effect: "allow", tool: "Bash" })
    const wrong = (count: string) => problemsIn({ ...form, count }, new Set()).get("atMost")
    for (const count of ["", "1", "20"]) expect(wrong(count)).toBeUndefined()
    for (const count of ["0", "-1", "1.5", "many"]) expect(wrong(count)).toBe("Enter a whole number, such as 20.")
    expect(problemsIn({ ...form, count: "many", effect: "deny" }, new Set()).size).toBe(0)
  })

  it("puts problems of limits at their fields", () => {
    const allow = { id: "a", effect: "allow", atMost: { count: 0, per: "session" }, branch: "" }
    const ask = { id: "b", effect: "ask", fourEyes: "yes" }
    const read = parsePolicy({ rules: [allow, ask] })
    const problems = read.ok ? [] : read.problems
    const own = (name: string) => problems.filter((problem) => problem.includes(`(${name})`))
    const found = hubProblems(own("a"), allow, 0)
    expect([...found.keys()].sort()).toEqual(["atMost", "branch"])
    expect(found.get("branch")).toBe("must not be empty")
    expect(found.get("atMost")).not.toContain("count:")
    expect([...hubProblems(own("b"), ask, 1).keys()]).toEqual(["fourEyes"])
  })

  it("puts each problem that the policy's own reader finds at its field", () => {
    const rule = {
      id: "odd (one): x",
      effect: "allow",
      tool: "B*",
      input: { command: "a; b", file_path: ["ok", "../x"] },
      cwd: "srv",
      colour: "red",
    }
    const read = parsePolicy({ rules: [{ id: "before", effect: "ask" }, rule] })
    const found = hubProblems(read.ok ? [] : read.problems, rule, 1)
    expect(found.get("tool")).toContain("exact name")
    expect(found.get("cwd")).toContain("must begin with /")
    expect(found.get("")).toContain("colour")
    const { colour: _unknown, ...known } = rule
    const patterns = { ...known, tool: "Bash", cwd: "/srv" }
    const again = parsePolicy({ rules: [{ id: "before", effect: "ask" }, patterns] })
    const more = hubProblems(again.ok ? [] : again.problems, patterns, 1)
    expect([...more.keys()].sort()).toEqual(["input.command", "input.file_path"])
    expect(more.get("input.command")).toMatch(/^allows nothing because/)
  })

  it("gets a name of its own from what it is about", () => {
    const rule = { effect: "allow", tool: "Bash", input: { command: ["npm run build --if-present"] } }
    expect(namedAfter(rule, new Set())).toBe("bash-npm-run-build")
    expect(namedAfter(rule, new Set(["bash-npm-run-build", "bash-npm-run-build-2"]))).toBe("bash-npm-run-build-3")
    expect(namedAfter({ effect: "allow" }, new Set())).toBe("any")
  })
})
