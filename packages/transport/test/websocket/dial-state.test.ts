import { array, assert, constantFrom, property } from "fast-check"
import { describe, expect, it } from "vitest"
import { type DialState, dialPresets } from "../../src/index.ts"
import { type DialInput, stepDial } from "../../src/websocket/dial-state.ts"

const lost: DialInput = {
  type: "failed",
  at: 0,
  roll: 0.5,
  failure: { kind: "lost", end: { by: "peer", code: 1006, reason: "gone" } },
}
const inputs: DialInput[] = [
  { type: "dial" },
  { type: "opened" },
  lost,
  { type: "failed", at: 10, roll: 0.5, failure: { kind: "http", status: 503 } },
  { type: "failed", at: 10, roll: 0.5, failure: { kind: "no-connection", error: new Error("refused") } },
  { type: "close", closed: { by: "us", reason: "done" } },
  { type: "ended", closed: { by: "us", reason: "done" } },
]

describe("[D16] the state of a dialled connection", () => {
  it("goes from idle over connecting to connected, over reconnecting back, and over closing to closed", () => {
    const steps: DialInput[] = [
      { type: "dial" },
      { type: "opened" },
      lost,
      { type: "dial" },
      { type: "opened" },
      { type: "close", closed: { by: "us", reason: "done" } },
      { type: "ended", closed: { by: "us", reason: "done" } },
    ]
    let state: DialState = { phase: "idle" }
    const phases = steps.map((input) => {
      state = stepDial(dialPresets.patient, state, input)
      return state.phase
    })
    expect(phases).toEqual(["connecting", "connected", "reconnecting", "connecting", "connected", "closing", "closed"])
  })

  it("is never left once closed, and an input that does not fit changes nothing", () => {
    const preset = constantFrom(dialPresets.cli2137, dialPresets.cli2120, dialPresets.patient, dialPresets.once)
    const closedIsFinal = property(preset, array(constantFrom(...inputs), { maxLength: 30 }), (rules, sequence) => {
      let state: DialState = { phase: "idle" }
      let closed: DialState | undefined
      for (const input of sequence) {
        state = stepDial(rules, state, input)
        if (state.phase === "closed") closed ??= state
        if (closed !== undefined && state !== closed) return false
      }
      return true
    })
    expect(() => assert(closedIsFinal)).not.toThrow()
  })

  it("forgets earlier failures when a connection opens", () => {
    const worn: DialState = {
      phase: "connecting",
      attempt: 3,
      budget: { failures: 3, firstFailureAt: 0, lastFailureAt: 5000 },
    }
    const open = stepDial(dialPresets.cli2137, worn, { type: "opened" })
    expect(stepDial(dialPresets.cli2137, open, lost)).toMatchObject({
      phase: "reconnecting",
      attempt: 1,
      delayMs: 1000,
    })
  })
})
