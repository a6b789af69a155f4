import { idleAgent } from "@signalbox/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  DRAFT,
  type Life,
  type LifeEffect,
  type LifeInput,
  lifeAtStart,
  phaseOf,
  stepLife,
} from "../../src/session/life.ts"
import { keptSession } from "../../src/testing/records.ts"

const line = fc.constantFrom("a", "b", "c")

const input: fc.Arbitrary<LifeInput<string, string>> = fc.oneof(
  fc.constantFrom<LifeInput<string, string>>(
    { kind: "awaited" },
    { kind: "given-up" },
    { kind: "launched" },
    { kind: "stopped" },
    { kind: "disconnected" },
    { kind: "handed-over" },
    { kind: "parked" },
    { kind: "ended" },
  ),
  fc.record({ kind: fc.constantFrom("connected", "greeted", "disconnected", "took-over"), line }),
  fc.record({ kind: fc.constantFrom("launching", "launch-over"), launch: fc.constantFrom("x", "y") }),
)

function run(
  inputs: readonly LifeInput<string, string>[],
): { life: Life<string, string>; effects: LifeEffect<string>[]; from: Life<string, string> }[] {
  let from: Life<string, string> = DRAFT
  return inputs.map((each) => {
    const { life, effects } = stepLife(from, each)
    const step = { from, life, effects: [...effects] }
    from = life
    return step
  })
}

const lineOf = (life: Life<string, string>) => (life.name === "live" ? life.line : undefined)

const startOf = (life: Life<string, string>) => ("start" in life ? life.start : undefined)

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

  it("[HS66] one process is started at a time, and one that was stopped meanwhile is wanted by nobody", () => {
    fc.assert(
      fc.property(fc.array(input), (inputs) => {
        for (const [index, { from, life }] of run(inputs).entries()) {
          const told = inputs[index]
          const [before, after] = [startOf(from), startOf(life)]
          // Whatever happens to a session without a process, its start is the same until it is over.
          const isOver = told?.kind === "launch-over" && told.launch === before?.launch
          const isKept = before !== undefined && "start" in life && told?.kind !== "handed-over" && !isOver
          const isFirst = before === undefined && "start" in from
          const begun = isFirst && told?.kind === "launching" ? told.launch : undefined
          expect(after?.launch).toBe(isKept ? before?.launch : begun)
          const isStopped = isKept && ((before?.isStopped ?? false) || told?.kind === "stopped")
          expect(after?.isStopped ?? false).toBe(isStopped)
        }
      }),
    )
  })

  it("[HS66] something waits for an agent from when it is told until the agent is started, given up or stopped", () => {
    const isAwaited = (life: Life<string, string>) => "start" in life && life.isAwaited
    fc.assert(
      fc.property(fc.array(input), (inputs) => {
        for (const [index, { from, life }] of run(inputs).entries()) {
          const kind = inputs[index]?.kind
          const isTold = kind === "awaited" && "start" in from && from.name !== "draft"
          const isLeft = kind === "given-up" || kind === "stopped" || kind === "handed-over"
          expect(isAwaited(life)).toBe(isTold || (isAwaited(from) && from.name === life.name && !isLeft))
        }
      }),
    )
  })

  it("[HS66] a draft is told as starting, and nothing makes a draft of a session again", () => {
    expect(phaseOf(DRAFT, idleAgent, 0)).toBe("starting")
    fc.assert(
      fc.property(fc.array(input), (inputs) => {
        for (const { from, life } of run(inputs)) expect(life.name === "draft" && from.name !== "draft").toBe(false)
      }),
    )
  })

  it("[HS66] one whose process is over rests if it was put to rest, and has ended otherwise", () => {
    const launch = { runner: "r", agent: "claude", cwd: null, spawn: null, earlier: [] } as const
    const { record, own } = keptSession("s", { state: "idle" })
    const lives = [true, false].map((isParked) =>
      lifeAtStart({ record, own: { ...own, launch: { ...launch, isParked } } }),
    )
    expect(lives.map(({ name }) => name)).toEqual(["parked", "ended"])
  })

  it("[HS66] a session from the store is never live: its agent has yet to come back", () => {
    const states = ["starting", "idle", "running", "waiting", "disconnected", "ended"] as const
    const lives = states.map((state) => lifeAtStart(keptSession("s", { state })).name)
    expect(lives).toEqual(["starting", "away", "away", "away", "away", "ended"])
  })
})
