import { describe, expect, it } from "vitest"
import { decidingSpan, whyWithin } from "../../src/fleet/deciding-span.ts"

const why = { rules: [], field: "command", span: { start: 3, end: 8 }, change: "To allow it, add a rule." }

describe("the part of a request that decided", () => {
  it("is marked in the text that was judged, and in no other", () => {
    expect(decidingSpan(why, "command", "ls; push")).toEqual({ start: 3, end: 8 })
    expect(decidingSpan(why, "url", "ls; push")).toBeUndefined()
    expect(decidingSpan(why, "command", "ls; pus")).toBeUndefined()
    expect(decidingSpan({ ...why, span: { start: 3, end: 3 } }, "command", "ls; push")).toBeUndefined()
    expect(decidingSpan({ rules: [], field: "command", change: "" }, "command", "ls")).toBeUndefined()
    expect(decidingSpan(undefined, "command", "ls")).toBeUndefined()
  })

  it("[P-14] goes on from one part of a long text to the next", () => {
    const parts = [
      [0, "ls"],
      [3, "; a"],
      [7, "bcd"],
      [11, "e"],
    ] as const
    const spans = parts.map(([from, text]) => whyWithin(why, from, text)?.span)
    expect(spans).toEqual([undefined, { start: 0, end: 3 }, { start: 0, end: 1 }, undefined])
    expect(whyWithin(undefined, 0, "ls")).toBeUndefined()
  })
})
