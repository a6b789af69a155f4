import { describe, expect, it } from "vitest"
import { limitUseOf } from "../../src/fleet/limit-use.ts"

const NOW = Date.parse("2031-01-01T12:00:00Z")
const toldAt = "2031-01-01T11:50:00Z"
const use = (rate_limit_info: unknown) =>
  limitUseOf({ at: toldAt, message: { type: "rate_limit_event", rate_limit_info } }, NOW)

describe("how much of a limit is used", () => {
  it("is what the agent last told, with when the window is over", () => {
    const resetsAt = NOW / 1000 + 600
    expect(use({ status: "allowed", rateLimitType: "five_hour", utilization: 0.823, resetsAt })).toEqual({
      name: "5-hour limit",
      short: "5 h",
      share: 82,
      resetsAtMs: NOW + 600_000,
      toldAt,
    })
    expect(use({ status: "rejected", rateLimitType: "lunar", utilization: 140 })).toMatchObject({
      name: "Limit lunar",
      short: "limit",
      share: 100,
    })
  })

  it("is read from the windows, where the agent lists them: the one that is used most and not over", () => {
    const resetsAt = NOW / 1000 + 600
    const unifiedWindows = {
      five_hour: { utilization: 0.41, resetsAt, status: "allowed" },
      seven_day: { utilization: 0.77, resetsAt: resetsAt + 600, status: "allowed" },
      of_tomorrow: { utilization: 0.99, resetsAt: NOW / 1000 - 1 },
      odd: "nonsense",
    }
    expect(use({ status: "allowed", rateLimitType: "five_hour", resetsAt, unifiedWindows })).toMatchObject({
      name: "7-day limit",
      share: 77,
      resetsAtMs: NOW + 1_200_000,
    })
  })

  it("is not known where it was not told, or once that window is over", () => {
    expect(limitUseOf(undefined, NOW)).toBeUndefined()
    expect(use({ status: "allowed" })).toBeUndefined()
    expect(use("nonsense")).toBeUndefined()
    expect(use({ status: "allowed", utilization: 0.5, resetsAt: NOW / 1000 - 1 })).toBeUndefined()
  })
})
