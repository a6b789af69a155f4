import { describe, expect, it } from "vitest"
import { isArmed, stepArming } from "../../src/asks/answer/arming.ts"
import { type EndSeen, pressed, stepEnd } from "../../src/asks/answer/end-seen.ts"

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

describe("the end of a request", () => {
  /** Looks, one after the other: when, and whether the end was in view. */
  const after = (...looks: readonly (readonly [at: number, isInView: boolean])[]) =>
    looks.reduce<EndSeen>((state, [at, isInView]) => stepEnd(state, { at, isInView }), { name: "new" }).name

  it("[K-119] is seen only once it stood in view for 400 ms without a break", () => {
    expect(after([0, true])).toBe("looking")
    expect(after([0, true], [399, true])).toBe("looking")
    expect(after([0, true], [400, true])).toBe("seen")
    expect(after([0, false])).toBe("unread")
  })

  it("[K-119] is not seen if something that arrives above pushes it out of view", () => {
    expect(after([0, true], [150, false], [400, false])).toBe("unread")
    expect(after([0, true], [150, false], [390, true], [410, true])).toBe("looking")
    expect(after([0, true], [400, true], [500, false])).toBe("seen")
  })

  it("[K-110] a press reads on until the end was seen, and answers then", () => {
    const pagedAt = Number.NEGATIVE_INFINITY
    expect(pressed({ end: "unread", pagedAt, at: 50 })).toEqual({ does: "reads on", pagedAt: 50 })
    for (const end of ["new", "looking"] as const)
      expect(pressed({ end, pagedAt, at: 50 })).toEqual({ does: "nothing", pagedAt })
    expect(pressed({ end: "seen", pagedAt, at: 50 }).does).toBe("answers")
  })

  it("[K-110] a press within 400 ms of a page does nothing, nor does one within 400 ms of that", () => {
    let pagedAt = 0
    for (let at = 50; at < 5000; at += 50) {
      const press = pressed({ end: at < 400 ? "looking" : "seen", pagedAt, at })
      expect(press).toEqual({ does: "nothing", pagedAt: at })
      pagedAt = press.pagedAt
    }
    expect(pressed({ end: "seen", pagedAt, at: pagedAt + 399 }).does).toBe("nothing")
    expect(pressed({ end: "seen", pagedAt, at: pagedAt + 400 }).does).toBe("answers")
  })
})
