import type { Session } from "@signalbox/client"
import { Transcript, type TranscriptEvent } from "@signalbox/transcript"
import { describe, expect, it } from "vitest"
import { launchFailureOf } from "../../src/session/launch-failure.ts"
import { sessionOf } from "../session-fixture.ts"

const event = (seq: number, from: TranscriptEvent["from"], message: TranscriptEvent["message"]): TranscriptEvent => ({
  seq,
  at: "2031-01-01T10:00:00Z",
  from,
  message,
})
const ended = event(1, "hub", { type: "hub", subtype: "ended", reason: "exited", code: 1, stderrTail: "no such model" })

function failure(facts: Partial<Session>, ...events: readonly TranscriptEvent[]) {
  const transcript = new Transcript()
  transcript.fold(events)
  const session = sessionOf({ state: "ended", runner: "r", ...facts })
  return launchFailureOf(session, transcript.rows(), (seq) => events.find((each) => each.seq === seq)?.message)
}

const at = "2031-01-01T00:00:00.000Z"

describe("a launch that came to nothing", () => {
  it("tells why its process ended, and what it wrote last", () => {
    expect(failure({ exit: { reason: "exited", code: 1, at } }, ended)).toEqual({
      why: "exited (code 1)",
      stderr: "no such model",
    })
    expect(failure({ exit: { reason: "killed", signal: "SIGKILL", at } })).toEqual({
      why: "killed (SIGKILL)",
      stderr: "",
    })
  })

  it("tells the CLI's own word for it, where it came to saying one", () => {
    const result = event(2, "agent", {
      type: "result",
      subtype: "error_during_execution",
      is_error: true,
      startup_failure_reason: "invalid_settings",
    })
    expect(failure({ exit: { reason: "exited", code: 1, at }, turns: 1 }, ended, result)?.why).toBe(
      "invalid_settings: exited (code 1)",
    )
  })

  it("is none after a turn, after a good end, when somebody stopped it, or when it was started by hand", () => {
    expect(failure({ exit: { reason: "exited", code: 1, at }, turns: 3 }, ended)).toBeUndefined()
    expect(failure({ exit: { reason: "exited", code: 0, at } })).toBeUndefined()
    expect(failure({ exit: { reason: "stopped by ops", at } })).toBeUndefined()
    expect(failure({ exit: { reason: "exited", code: 1, at }, runner: null })).toBeUndefined()
    expect(failure({ state: "running" })).toBeUndefined()
  })
})
