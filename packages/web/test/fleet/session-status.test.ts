import type { Session } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { statusOf } from "../../src/fleet/session-status.tsx"
import { sessionOf } from "../session-fixture.ts"

const NOW = Date.parse("2031-01-01T12:00:00Z")
const status = (facts: Partial<Session>, seenSeq?: number) => statusOf(sessionOf(facts), { now: NOW, seenSeq })
const result = (isError: boolean, more = {}) => ({
  subtype: isError ? "error" : "success",
  isError,
  at: "2031-01-01T11:59:00Z",
  ...more,
})

const at = "2031-01-01T00:00:00.000Z"

describe("the status of a session", () => {
  it("is the first that holds: an open ask before all else", () => {
    expect(status({ state: "disconnected", pendingAsks: 1 })).toBe("needs-you")
    expect(status({ state: "waiting", pendingAsks: 2, runner: "r", runnerSeenAt: "2031-01-01T11:00:00Z" })).toBe(
      "needs-you",
    )
  })

  it("is lost when its machine is silent for more than half a minute", () => {
    const away = { state: "disconnected", runner: "r" } as const
    expect(status({ ...away, runnerSeenAt: "2031-01-01T11:59:29Z" })).toBe("lost")
    expect(status({ ...away, runnerSeenAt: "2031-01-01T11:59:31Z" })).toBe("idle")
    expect(status({ ...away, runnerSeenAt: "2031-01-01T11:59:31Z", turnStartedAt: "2031-01-01T11:59:00Z" })).toBe(
      "running",
    )
    expect(status({ state: "ended", runner: "r", runnerSeenAt: "2031-01-01T11:00:00Z" })).toBe("ended")
  })

  it("is not lost because its machine came long ago and stayed", () => {
    const busy = { state: "running", turns: 1 } as const
    expect(status({ ...busy, runner: "r", runnerSeenAt: "2031-01-01T09:00:00Z" })).toBe("running")
    expect(status({ state: "idle", runner: "r", runnerSeenAt: "2031-01-01T09:00:00Z" })).toBe("idle")
  })

  it("is starting until its CLI has said something, also when its first message is with it", () => {
    expect(status({ state: "starting" })).toBe("starting")
    expect(status({ state: "running" })).toBe("starting")
    expect(status({ state: "running", agentSessionId: "c" })).toBe("running")
    // Without a message it has nothing to say.
    expect(status({ state: "idle" })).toBe("idle")
  })

  it("is failed after an error or a bad exit, but not while it works again", () => {
    expect(status({ state: "idle", lastResult: result(true) })).toBe("failed")
    expect(status({ state: "running", lastResult: result(true), turns: 1 })).toBe("running")
    expect(status({ state: "ended", exit: { reason: "exited", code: 1, at } })).toBe("failed")
    expect(status({ state: "ended", exit: { reason: "exited", code: 0, at } })).toBe("ended")
    expect(status({ state: "ended", exit: { reason: "killed", signal: "SIGKILL", at } })).toBe("failed")
    expect(status({ state: "ended", exit: { reason: "stopped by admin", signal: "SIGTERM", at } })).toBe("ended")
  })

  it("is never failed for a turn that somebody interrupted", () => {
    expect(status({ state: "idle", lastResult: result(true, { interruptedBy: "ops-phone" }) })).not.toBe("failed")
  })

  it("is never failed because somebody stopped it", () => {
    const exit = { reason: "stopped by admin", code: 143, at: "2031-01-01T11:59:00Z" }
    expect(status({ state: "ended", lastResult: result(true), exit })).toBe("ended")
    expect(status({ state: "ended", exit: { ...exit, reason: "exit code 143" } })).toBe("failed")
  })

  it("is ready when its turn ended since it was last looked at, and then idle", () => {
    expect(status({ state: "idle", lastSeq: 9, lastResult: result(false) }, 8)).toBe("ready")
    expect(status({ state: "idle", lastSeq: 9, lastResult: result(false) }, 9)).toBe("idle")
    expect(status({ state: "idle", lastSeq: 9 })).toBe("idle")
    // Its agent was connected again since then.
    expect(status({ state: "idle", lastSeq: 11, lastResult: result(false, { seq: 9 }) }, 9)).toBe("idle")
    expect(status({ state: "idle", lastSeq: 11, lastResult: result(false, { seq: 9 }) }, 8)).toBe("ready")
  })

  it("is running while something goes on in the background", () => {
    expect(status({ state: "idle", lastSeq: 9, lastResult: result(false), backgroundTasks: 1 }, 8)).toBe("running")
    expect(status({ state: "idle", backgroundTasks: 0 })).toBe("idle")
    expect(status({ state: "ended", backgroundTasks: 1 })).toBe("ended")
  })
})
