import { describe, expect, it } from "vitest"
import { extended, inBulk, listed, NOTHING_SELECTED, toggled } from "../../src/sessions/selection.ts"
import {
  bulkConsequence,
  progressWords,
  refusalWords,
  resultWords,
  targetsOf,
} from "../../src/sessions/selection-words.ts"
import { sessionOf } from "../session-fixture.ts"

const ROWS = ["a", "b", "c", "d"]
const ids = (selection: { readonly ids: ReadonlySet<string> }) => [...selection.ids].sort()

describe("a selection", () => {
  it("[S-151] a range runs from the row that was chosen last, in either direction, and adds to what is chosen", () => {
    const one = toggled(NOTHING_SELECTED, "b")
    expect(ids(extended(one, "d", ROWS))).toEqual(["b", "c", "d"])
    expect(ids(extended(extended(one, "d", ROWS), "a", ROWS))).toEqual(["a", "b", "c", "d"])
    expect(ids(toggled(one, "b"))).toEqual([])
  })

  it("[S-151] without a beginning, or with one that is not seen, a range is the one row", () => {
    expect(ids(extended(NOTHING_SELECTED, "c", ROWS))).toEqual(["c"])
    expect(ids(extended(toggled(NOTHING_SELECTED, "gone"), "c", ROWS))).toEqual(["c", "gone"])
  })

  it("[S-151] sessions that are not listed any more are not selected", () => {
    const two = toggled(toggled(NOTHING_SELECTED, "a"), "b")
    expect(ids(listed(two, new Set(["b", "c"])))).toEqual(["b"])
    expect(listed(two, new Set(ROWS))).toBe(two)
  })

  it("[S-152] four at a time, and one that is refused stops none of the others", async () => {
    let now = 0
    let most = 0
    const finished: number[] = []
    const all = Array.from({ length: 20 }, (_, index) => `s${index}`)
    const act = async (id: string) => {
      most = Math.max(most, ++now)
      await Promise.resolve()
      now--
      if (id === "s7") throw new Error("session has ended")
    }
    const result = await inBulk(all, act, (count) => finished.push(count))
    expect(most).toBe(4)
    expect(result.done).toEqual(all.filter((id) => id !== "s7"))
    expect(result.refused).toEqual([{ id: "s7", why: "session has ended" }])
    expect(finished.at(-1)).toBe(20)
  })
})

describe("the words of a selection", () => {
  const running = sessionOf({ id: "a", title: "Fix", state: "running", runner: "r-1", pendingAsks: 2 })
  const ended = sessionOf({ id: "b", title: "Docs", state: "ended", archived: true })

  it("[S-152] the result says how many, and names each that was refused with its reason", () => {
    const result = { done: ["x", "y", "z"], refused: [{ id: "b", why: "session has ended" }] }
    expect(resultWords("archive", result)).toBe("3 of 4 archived.")
    expect(resultWords("stop", { done: ["x"], refused: [] })).toBe("1 session stopped.")
    expect(refusalWords(result, new Map([["b", ended]]))).toEqual([{ names: "Docs", why: "session has ended" }])
    expect(progressWords("message", 1, 4)).toBe("Sending to 4 sessions: 1 done…")
  })

  it("[S-152] many that are refused for the same reason are one line", () => {
    const refused = Array.from({ length: 8 }, (_, index) => ({ id: `${index}`, why: "no" }))
    expect(refusalWords({ done: [], refused }, new Map())).toEqual([{ names: "0, 1, 2, 3, 4 and 3 more", why: "no" }])
  })

  it("[S-152] an action is for those that it changes, and its consequence is told before", () => {
    expect(targetsOf("archive", [running, ended])).toEqual([running])
    expect(targetsOf("unarchive", [running, ended])).toEqual([ended])
    expect(targetsOf("stop", [running, ended])).toEqual([running])
    expect(bulkConsequence("stop", [running])).toBe(
      "This stops 1 agent, 1 in the middle of a turn. 2 open requests will stay unanswered. History is kept; send a message to resume.",
    )
    expect(bulkConsequence("archive", [ended])).toBe("")
  })
})
