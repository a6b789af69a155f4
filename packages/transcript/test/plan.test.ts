import { describe, expect, it } from "vitest"
import { planInCall, Transcript, toolHeading } from "../src/index.ts"
import { SessionLog } from "./session-log.ts"

describe("plans", () => {
  const call = (input: Record<string, unknown>) =>
    new SessionLog().call("m", { id: "t1", name: "ExitPlanMode", input }).text("m2", "Waiting.")

  it("[TR23] a plan that stands only in the call is found there by the request about it", () => {
    const { events } = call({ plan: "1. Look" })
    expect(planInCall(events, "t1")).toBe("1. Look")
    expect(planInCall(events, "t2")).toBeUndefined()
    expect(planInCall(events, undefined)).toBeUndefined()
    expect(planInCall(call({}).events, "t1")).toBeUndefined()
  })

  it("[TR23] the row of a plan that stands only in the request shows it", () => {
    const asked = call({}).asks("r1", {
      id: "t1",
      name: "ExitPlanMode",
      input: { plan: "1. Read", planFilePath: "/p.md" },
    })
    const transcript = new Transcript()
    transcript.fold(asked.events)
    const row = transcript.tool("t1")
    expect(row?.input).toEqual({ plan: "1. Read", planFilePath: "/p.md" })
    expect(row === undefined ? undefined : toolHeading(row)).toEqual({ verb: "Plan", target: "1. Read" })
  })
})
