import { describe, expect, it } from "vitest"
import { identicalTo, nextAfter } from "../../src/asks/answer/ask-queue.ts"
import { BY_HAND, groupBySession, matchesWish, receiptsOf, wishOf } from "../../src/asks/inbox/inbox.ts"
import { askOf } from "./ask-fixture.ts"

const sessions = new Map([
  ["s1", { runner: "m1", cwd: "/srv/api" }],
  ["s2", { runner: null, cwd: "/srv/api" }],
  ["s3", { runner: "m1", cwd: "/srv/web" }],
  ["s4", { runner: "m1", cwd: "/srv/api" }],
  ["s5", { runner: "m2", cwd: "/srv/api" }],
  ["s6", { runner: null, cwd: "/srv/api" }],
])
const ask = (id: string, sessionId: string, facts: Partial<Parameters<typeof askOf>[0]> = {}) =>
  askOf({ id, sessionId, toolName: "Bash", ...facts })

describe("the inbox", () => {
  it("is narrowed down to a kind and a machine", () => {
    const question = ask("q", "s2", { kind: "question" })
    expect(matchesWish(question, { kind: "", machine: "" }, sessions)).toBe(true)
    expect(matchesWish(question, { kind: "tool", machine: "" }, sessions)).toBe(false)
    expect(matchesWish(question, { kind: "question", machine: BY_HAND }, sessions)).toBe(true)
    expect(matchesWish(question, { kind: "", machine: "m1" }, sessions)).toBe(false)
  })

  it("takes what an address says for what it is, and a kind that does not exist for none", () => {
    const wish = (text: string) => wishOf(new URLSearchParams(text))
    expect(wish("kind=plan&machine=m1")).toEqual({ kind: "plan", machine: "m1" })
    expect(wish("kind=nonsense")).toEqual({ kind: "", machine: "" })
  })

  it("[A-150] keeps the requests of a session together, after the session that waits longest", () => {
    const groups = groupBySession([ask("1", "s1"), ask("2", "s2"), ask("3", "s1")])
    expect(groups.map(({ session, asks }) => `${session}: ${asks.map(({ id }) => id).join(" ")}`)).toEqual([
      "s1: 1 3",
      "s2: 2",
    ])
  })

  it("[A-151] keeps receipts of what people answered in the last hour, the latest first", () => {
    const now = Date.parse("2031-01-01T13:00:00Z")
    const settled = (id: string, facts: Parameters<typeof askOf>[0]) =>
      ask(id, "s1", { state: "allowed", settledAt: "2031-01-01T12:30:00Z", settledBy: "ann", ...facts })
    const all = [
      settled("early", {}),
      settled("late", { state: "denied", settledAt: "2031-01-01T12:59:00Z" }),
      settled("old", { settledAt: "2031-01-01T11:59:00Z" }),
      settled("rule", { via: "policy" }),
      settled("gone", { state: "orphaned" }),
      ask("open", "s1"),
    ]
    expect(receiptsOf(all, now).map(({ id }) => id)).toEqual(["late", "early"])
    const burst = Array.from({ length: 20 }, (_, n) => settled(`${n}`, {}))
    expect(receiptsOf(burst, now)).toHaveLength(20)
  })

  it("[K-121] takes as identical only the same tool with the same input in the same folder of the same machine, still open", () => {
    const first = ask("1", "s1")
    const all = [
      first,
      ask("same", "s4"),
      ask("own", "s1"),
      ask("other-machine", "s5"),
      ask("external", "s2"),
      ask("other-folder", "s3"),
      ask("other-input", "s4", { inputHash: "x" }),
      ask("other-tool", "s4", { toolName: "Write" }),
      ask("settled", "s4", { state: "allowed" }),
      ask("unknown-session", "s9"),
    ]
    expect(identicalTo(first, all, sessions).map(({ id }) => id)).toEqual(["same", "own"])
    // Nobody knows whether two external agents are on one machine.
    const external = [ask("e1", "s2"), ask("e2", "s2"), ask("e3", "s6")]
    expect(identicalTo(ask("e1", "s2"), external, sessions).map(({ id }) => id)).toEqual(["e2"])
    expect(identicalTo({ ...first, kind: "plan" }, all, sessions)).toEqual([])
  })

  it("goes on with the one that followed what was answered, else with the last that is left", () => {
    const [a, b, c] = [ask("a", "s1"), ask("b", "s1"), ask("c", "s1")]
    expect(nextAfter("b", [a, b, c], [a, c])?.id).toBe("c")
    expect(nextAfter("c", [a, b, c], [a, b])?.id).toBe("b")
    expect(nextAfter("a", [a, b, c], [c])?.id).toBe("c")
    expect(nextAfter("a", [a], [])).toBeUndefined()
  })
})
