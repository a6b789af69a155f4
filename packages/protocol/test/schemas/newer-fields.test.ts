import { controlRequests, schemaFor } from "@signalbox/protocol/schemas"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { apiError } from "../../src/schemas/parts.ts"

const ids = { uuid: "00000000-0000-4000-8000-000000000001", session_id: "s" }
const told = (rate_limit_info: object) => ({ type: "rate_limit_event", rate_limit_info, ...ids })
const accepts = (message: Record<string, unknown> & { type: string }) =>
  schemaFor(message, "agent")?.safeParse(message).success

describe("fields that 2.1.325 was seen to send", () => {
  it("[M11] the windows of a limit are checked, each by itself", () => {
    const window = { utilization: 0.5, resetsAt: 1, status: "allowed", of_tomorrow: 1 }
    expect(accepts(told({ status: "allowed", unifiedWindows: { five_hour: window, seven_day: {} } }))).toBe(true)
    expect(accepts(told({ status: "allowed" }))).toBe(true)
    expect(accepts(told({ status: "allowed", unifiedWindows: { five_hour: { utilization: "much" } } }))).toBe(false)
  })

  it("[M11] a message that reports an error of the API may say which limit it was", () => {
    const said = z.looseObject(apiError)
    const api_error_params = { rate_limit_info: { resetsAt: 1 } }
    expect(said.safeParse({ api_error: "usage_limit_reached", api_error_params }).success).toBe(true)
    expect(said.safeParse({ api_error: 429 }).success).toBe(false)
    expect(said.safeParse({ api_error_params: "much" }).success).toBe(false)
  })

  it("[M11] suggestions of files need not name a folder", () => {
    const { response } = controlRequests.file_suggestions
    expect(response.safeParse({ suggestions: [] }).success).toBe(true)
    expect(response.safeParse({ suggestions: [], cwd: 7 }).success).toBe(false)
  })
})
