import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { startDeadline } from "../src/base/deadline.ts"

const DAY_MS = 24 * 60 * 60 * 1000

describe("a time that a program gives", () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it.each([20, 2 ** 31, 60 * DAY_MS])("[Q12] %i ms are over when they are, also past the longest timer", (ms) => {
    const over = vi.fn<() => void>()
    startDeadline(ms, over)
    vi.advanceTimersByTime(ms - 1)
    expect(over).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(over).toHaveBeenCalledOnce()
  })

  it("[Q12] Infinity is never over, and sets no timer", () => {
    startDeadline(Number.POSITIVE_INFINITY, () => expect.unreachable())
    expect(vi.getTimerCount()).toBe(0)
  })

  it("[Q12] one that was called off is never over, in whichever of its timers", () => {
    const callOff = startDeadline(60 * DAY_MS, () => expect.unreachable())
    vi.advanceTimersByTime(30 * DAY_MS)
    callOff()
    expect(vi.getTimerCount()).toBe(0)
  })
})
