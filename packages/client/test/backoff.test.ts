import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { DEFAULT_BACKOFF, retryDelayMs } from "../src/backoff.ts"

describe("waiting before another try", () => {
  it("[HC3] doubles, with jitter, up to a bound", () => {
    expect([1, 2, 3, 4].map((failures) => retryDelayMs(DEFAULT_BACKOFF, failures, 1))).toEqual([250, 500, 1000, 2000])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, roll) => {
        const delay = retryDelayMs(DEFAULT_BACKOFF, failures, roll)
        return delay >= 125 && delay <= 10_000
      }),
    )
  })
})
