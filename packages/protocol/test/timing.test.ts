import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { backoffMs } from "../src/timing.ts"

const backoff = { baseDelayMs: 250, maxDelayMs: 10_000 }

describe("waiting before another try", () => {
  it("[HC3] doubles, with jitter, up to a bound", () => {
    expect([1, 2, 3, 4].map((failures) => backoffMs(backoff, failures, 1))).toEqual([250, 500, 1000, 2000])
    expect([0, 1, 2].map((failures) => backoffMs(backoff, failures))).toEqual([250, 250, 500])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, roll) => {
        const delay = backoffMs(backoff, failures, roll)
        return delay >= 125 && delay <= 10_000
      }),
    )
  })
})
