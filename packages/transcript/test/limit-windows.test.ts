import { describe, expect, it } from "vitest"
import { limitWindowsOf } from "../src/index.ts"

const windows = (rate_limit_info: unknown) => limitWindowsOf({ type: "rate_limit_event", rate_limit_info })

describe("the windows of a limit", () => {
  it("[TR26] are those that a newer CLI lists, each with its use", () => {
    const unifiedWindows = {
      five_hour: { utilization: 0.2, resetsAt: 1, status: "allowed" },
      seven_day: { utilization: 0.9, resetsAt: 2, status: "allowed_warning", surpassedThreshold: 0.75 },
    }
    const info = {
      status: "allowed_warning",
      rateLimitType: "seven_day",
      utilization: 0.9,
      resetsAt: 2,
      unifiedWindows,
    }
    expect(windows(info)).toEqual([
      { type: "five_hour", utilization: 0.2, resetsAt: 1, status: "allowed" },
      { type: "seven_day", utilization: 0.9, resetsAt: 2, status: "allowed_warning" },
    ])
  })

  it("[TR26] are the one that decides on an older CLI, which tells its use only near the limit", () => {
    const top = { status: "allowed_warning", rateLimitType: "five_hour", utilization: 0.8, resetsAt: 9 }
    expect(windows(top)).toEqual([{ type: "five_hour", status: "allowed_warning", utilization: 0.8, resetsAt: 9 }])
    expect(windows({ status: "rejected" })).toEqual([{ status: "rejected" }])
  })

  it("[TR26] what the list does not have of the one that decides is taken from the top; nonsense is passed over", () => {
    const unifiedWindows = { five_hour: { utilization: 1 }, odd: 7, seven_day: { utilization: "much" } }
    expect(windows({ status: "rejected", rateLimitType: "five_hour", resetsAt: 5, unifiedWindows })).toEqual([
      { type: "five_hour", status: "rejected", resetsAt: 5, utilization: 1 },
      { type: "seven_day" },
    ])
    expect(windows("nonsense")).toEqual([])
    expect(limitWindowsOf(null)).toEqual([])
  })
})
