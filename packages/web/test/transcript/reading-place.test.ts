import { describe, expect, it } from "vitest"
import {
  carryPlace,
  forgetPlace,
  keepPlace,
  keptPlace,
  type ReadingPlace,
} from "../../src/transcript/list/reading-place.ts"

const row = (key: string): ReadingPlace => ({ at: "row", key, seq: 7, offsetPx: 12 })

describe("where somebody stopped reading", () => {
  it("is kept for the entry of the history, the session and the lane, and not for others", () => {
    const spot = { entry: "e1", session: "s", lane: null }
    keepPlace(spot, row("a"))
    expect(keptPlace(spot)).toEqual(row("a"))
    for (const other of [{ entry: "e2" }, { session: "t" }, { lane: "l" }])
      expect(keptPlace({ ...spot, ...other })).toBeUndefined()
    forgetPlace(spot)
    expect(keptPlace(spot)).toBeUndefined()
  })

  it("is carried to another entry, the one that was left last", () => {
    const there = { session: "s2", lane: "l" }
    expect(carryPlace({ ...there, entry: "c" })).toBe(false)
    keepPlace({ ...there, entry: "a" }, row("old"))
    keepPlace({ ...there, entry: "b" }, row("new"))
    expect(carryPlace({ ...there, entry: "c" })).toBe(true)
    expect(keptPlace({ ...there, entry: "c" })).toEqual(row("new"))
  })

  it("at the end is no place to be led to", () => {
    const there = { session: "s3", lane: null }
    keepPlace({ ...there, entry: "a" }, { at: "end" })
    expect(carryPlace({ ...there, entry: "b" })).toBe(false)
  })

  it("is forgotten, the oldest first, when there are many", () => {
    const spot = (n: number) => ({ entry: `many ${n}`, session: "s4", lane: null })
    for (let n = 0; n < 60; n++) keepPlace(spot(n), row("a"))
    expect(keptPlace(spot(9))).toBeUndefined()
    expect(keptPlace(spot(10))).toBeDefined()
  })
})
