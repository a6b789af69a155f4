import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Life, type LifeEffect, type LifeInput, lifeAtStart, stepLife } from "../../src/session/life.ts"
import { keptSession } from "../../src/testing/records.ts"

const line = fc.constantFrom("a", "b", "c")

const input: fc.Arbitrary<LifeInput<string>> = fc.oneof(
  fc.constantFrom<LifeInput<string>>(
    { kind: "launched" },
    { kind: "disconnected" },
    { kind: "handed-over" },
    { kind: "parked" },
    { kind: "ended" },
  ),
  fc.record({ kind: fc.constantFrom("connected", "greeted", "disconnected", "took-over"), line }),
)

function run(
  inputs: readonly LifeInput<string>[],
): { life: Life<string>; effects: LifeEffect<string>[]; from: Life<string> }[] {
  let from: Life<string> = { name: "starting" }
  return inputs.map((each) => {
    const { life, effects } = stepLife(from, each)
    const step = { from, life, effects: [...effects] }
    from = life
    return step
  })
}

const lineOf = (life: Life<string>) => (life.name === "live" ? life.line : undefined)

describe("the life of a session", () => {
  it("[HS66] a line that is no longer the session's is closed in that step, and nothing else is, unless it was handed over", () => {
    fc.assert(
      fc.property(fc.array(input), (inputs) => {
        for (const [index, { from, life, effects }] of run(inputs).entries()) {
          const closed = effects.flatMap((effect) => (effect.do === "close" ? [effect.line] : []))
          const isNew = inputs[index]?.kind === "connected" || inputs[index]?.kind === "took-over"
          const isLeft = lineOf(from) !== undefined && (lineOf(life) === undefined || isNew)
          expect(closed).toEqual(isLeft && inputs[index]?.kind !== "handed-over" ? [lineOf(from)] : [])
        }
      }),
    )
  })

  it("[HS66] asks are orphaned when a session is parked or ends, once, and whoever waits for its agent is told", () => {
    fc.assert(
      fc.property(fc.array(input), (inputs) => {
        for (const [index, { from, life, effects }] of run(inputs).entries()) {
          const { kind } = inputs[index] ?? {}
          const isOver = (kind === "parked" || kind === "ended") && from !== life
          expect(effects.filter((effect) => effect.do === "orphan-asks")).toHaveLength(isOver ? 1 : 0)
          const told = effects.flatMap((effect) => (effect.do === "tell-arrival" ? [effect.isHere] : []))
          expect(told).toEqual(isOver ? [false] : kind === "greeted" && from !== life ? [true] : [])
        }
      }),
    )
  })

  it("[HS66] what comes too late, of a line that is not the session's or of an end that was told, changes nothing", () => {
    fc.assert(
      fc.property(fc.array(input), (inputs) => {
        for (const [index, { from, life, effects }] of run(inputs).entries()) {
          const told = inputs[index]
          const isLate =
            ((told?.kind === "greeted" || told?.kind === "disconnected") &&
              (from.name !== "live" || (told.line !== undefined && told.line !== from.line))) ||
            (told?.kind === "parked" && (from.name === "parked" || from.name === "ended")) ||
            (told?.kind === "ended" && from.name === "ended")
          expect(isLate && (life !== from || effects.length > 0)).toBe(false)
        }
      }),
    )
  })

  it("[HS66] a session from the store is never live: its agent has yet to come back", () => {
    const states = ["starting", "idle", "running", "waiting", "disconnected", "ended"] as const
    const lives = states.map((state) => lifeAtStart(keptSession("s", { state })).name)
    expect(lives).toEqual(["starting", "away", "away", "away", "away", "ended"])
  })
})
