import { describe, expect, it } from "vitest"
import { isArmed, stepArming } from "../../src/asks/answer/arming.ts"

describe("arming", () => {
  it("holds for 400 ms after focus or change, and for 600 ms after another card was settled", () => {
    const never = { inertUntil: Number.NEGATIVE_INFINITY }
    expect(isArmed(never, 0)).toBe(true)
    expect(isArmed(stepArming(never, { type: "focused", at: 1000 }), 1399)).toBe(false)
    expect(isArmed(stepArming(never, { type: "focused", at: 1000 }), 1400)).toBe(true)
    expect(isArmed(stepArming(never, { type: "followed", at: 1000 }), 1599)).toBe(false)
  })

  it("is never shortened by what comes later", () => {
    const followed = stepArming({ inertUntil: 0 }, { type: "followed", at: 1000 })
    expect(isArmed(stepArming(followed, { type: "focused", at: 1001 }), 1500)).toBe(false)
  })
})
