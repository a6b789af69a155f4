import type { Row } from "@signalbox/transcript"
import { describe, expect, it } from "vitest"
import { rowsSince } from "../../src/transcript/list/follow.ts"
import {
  drawnMarks,
  joinedMarks,
  nearestMark,
  seqAt,
  shareOf,
  steppedSeq,
  type TrackMark,
} from "../../src/transcript/track/track-marks.ts"

const bounds = { firstSeq: 1, lastSeq: 100_001 }
const mark = (seq: number, kind: TrackMark["kind"] = "prompt"): TrackMark => ({ seq, kind, label: String(seq) })
const prompt = (seq: number, at = "2031-01-01T00:00:00Z"): Row => ({
  kind: "prompt",
  key: `e:${seq}`,
  headSeq: seq,
  lastSeq: seq,
  lane: null,
  at,
  text: `message ${seq}`,
  pictures: [],
  delivery: "sent",
})

describe("the track beside a session", () => {
  it("has every event at its place, and an event for every place", () => {
    expect([1, 50_001, 100_001].map((seq) => shareOf(seq, bounds))).toEqual([0, 0.5, 1])
    expect([-1, 0, 0.5, 1, 2].map((share) => seqAt(share, bounds))).toEqual([1, 1, 50_001, 100_001, 100_001])
    expect(shareOf(1, { firstSeq: 1, lastSeq: 1 })).toBe(0)
  })

  it("goes a hundredth with an arrow, a tenth with a page key, to the ends with Home and End, and never beyond", () => {
    const from = (seq: number, ...keys: string[]) => keys.map((key) => steppedSeq(seq, key, bounds))
    expect(from(50_001, "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", "x")).toEqual([
      49_001,
      51_001,
      40_001,
      60_001,
      1,
      100_001,
      undefined,
    ])
    expect(from(2, "PageUp")).toEqual([1])
    // In a short session a hundredth would be nothing.
    expect(steppedSeq(3, "ArrowDown", { firstSeq: 1, lastSeq: 10 })).toBe(4)
  })

  it("draws at most one mark for every few pixels: the one that matters most", () => {
    const many = Array.from({ length: 5000 }, (_, n) => mark(1 + n * 20, n === 70 ? "error" : "prompt"))
    const drawn = drawnMarks(many, bounds, 400)
    expect(drawn.length).toBeLessThanOrEqual(101)
    expect(drawn.filter(({ kind }) => kind === "error")).toHaveLength(1)
    expect(drawnMarks([mark(200_000)], bounds, 400)).toEqual([])
  })

  it("takes a pointer near a mark for the mark", () => {
    const drawn = drawnMarks([mark(50_001, "ask"), mark(60_001)], bounds, 400)
    expect(nearestMark(drawn, 0.51, 0.02)?.seq).toBe(50_001)
    expect(nearestMark(drawn, 0.55, 0.02)).toBeUndefined()
  })

  it("has marks for what came after the outline was asked for, and none twice", () => {
    const rows = [prompt(5), prompt(9), prompt(12)]
    const marks = joinedMarks({ marks: [mark(5), mark(9)], upTo: 9 }, rows)
    expect(marks.map(({ seq }) => seq)).toEqual([5, 9, 12])
    expect(joinedMarks({ marks: [], upTo: 0 }, rows)).toHaveLength(3)
  })
})

describe("what came meanwhile", () => {
  it("is counted in rows that are said, not in what is still being said", () => {
    expect(rowsSince([prompt(1), prompt(4), prompt(6), prompt(7, "")], 3)).toBe(2)
    expect(rowsSince([prompt(1)], 3)).toBe(0)
  })
})
