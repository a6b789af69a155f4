import { describe, expect, it } from "vitest"
import { stopConsequence } from "../../src/fleet/session-words.ts"
import { lastLineOf, plainLine, sinceWords } from "../../src/sessions/entry-words.ts"
import { sessionOf } from "../session-fixture.ts"

const entry = (status: "failed" | "lost" | "running", facts: Parameters<typeof sessionOf>[0]) => ({
  session: sessionOf(facts),
  status,
  ask: undefined,
  machine: undefined,
})

const at = "2031-01-01T00:00:00.000Z"

describe("a session in one line", () => {
  it("that failed says why", () => {
    const line = (facts: Parameters<typeof sessionOf>[0]) => lastLineOf(entry("failed", facts))
    expect(line({ state: "ended", exit: { reason: "exited", code: 1, at }, lastLine: "Hm." })).toBe("exited (code 1)")
    expect(line({ lastResult: { subtype: "error_max_turns", isError: true, at } })).toBe("Turn limit reached")
    expect(line({ lastResult: { subtype: "success", isError: true, at }, lastLine: "API Error: 401" })).toBe(
      "API Error: 401",
    )
  })

  it("whose machine is away says as of when that is known", () => {
    const seen = new Date(2031, 0, 1, 14, 2)
    const lost = entry("lost", { state: "disconnected", runner: "r", runnerSeenAt: seen.toISOString() })
    expect(sinceWords(lost, seen.getTime() + 60_000)).toBe("as of 14:02")
    const running = entry("running", { state: "running", turnStartedAt: seen.toISOString() })
    expect(sinceWords(running, seen.getTime() + 60_000)).toBe("1 min")
  })
})

describe("what stopping comes to", () => {
  it("names the turn, the questions and whether it can come back", () => {
    const words = stopConsequence({ state: "waiting", pendingAsks: 2, runner: "r" })
    expect(words).toContain("in the middle of a turn")
    expect(words).toContain("2 open requests will stay unanswered")
    expect(words).toContain("send a message to resume")
    const byHand = stopConsequence({ state: "idle", pendingAsks: 0, runner: null })
    expect(byHand).not.toContain("request")
    expect(byHand).toContain("can't be resumed")
  })
})

describe("a line of an agent's text", () => {
  it("is told without the marks of its markup", () => {
    expect(plainLine("| react | **19** | |")).toBe("react, 19")
    expect(plainLine("## Done: `npm test` passes")).toBe("Done: npm test passes")
    expect(plainLine("- [x] See [the docs](https://example.com)")).toBe("See the docs")
    expect(plainLine("1. __First__, then 2 * 3 * 4")).toBe("First, then 2 * 3 * 4")
    expect(plainLine("|---|---|")).toBe("")
    expect(plainLine("```")).toBe("")
  })
})
