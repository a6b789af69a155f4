import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { recordOf, stateFrom } from "../../src/loop/run-record.ts"
import {
  costOf,
  type Effect,
  isActive,
  isFinished,
  type Plan,
  type RunInput,
  type RunState,
  type TurnEnd,
  turnsOf,
} from "../../src/loop/run-state.ts"
import { step } from "../../src/loop/run-step.ts"

const PLAN: Plan = { atOnce: 1, tries: 3, checks: false }

function stateOf(count: number, plan: Partial<Plan> = {}): RunState {
  const tasks = Array.from({ length: count }, (_, index) => ({ text: `task ${index + 1}`, state: "waiting" as const }))
  return stateFrom({ tasks }, { ...PLAN, ...plan })
}

function after(state: RunState, ...inputs: readonly RunInput[]) {
  let [now, effects] = [state, [] as readonly Effect[]]
  for (const input of inputs) ({ state: now, effects } = step(now, input))
  return { now, effects, states: now.tasks.map((task) => task.state) }
}

const BEGIN: RunInput = { type: "begin" }
const turn = (task: number, end: TurnEnd = { kind: "answered" }, costUsd?: number): RunInput => ({
  type: "turn",
  task,
  end,
  ...(costUsd === undefined ? {} : { costUsd }),
})
const failed = (task: number): RunInput => ({
  type: "checked",
  task,
  failure: { text: "no", note: "the check failed" },
})

describe("a run, step by step", () => {
  it("[LP2] begins no more than may be at work, and the next when one is over", () => {
    const begun = after(stateOf(3, { atOnce: 2 }), BEGIN)
    expect(begun.states).toEqual(["working", "working", "waiting"])
    expect(begun.effects.map((effect) => [effect.do, effect.task])).toEqual([
      ["turn", 1],
      ["turn", 2],
    ])
    const next = after(begun.now, turn(2))
    expect(next.states).toEqual(["working", "done", "working"])
    expect(next.effects).toEqual([
      { do: "close", task: 2 },
      { do: "turn", task: 3, message: "task 3" },
    ])
  })

  it("[LP3] a check that fails goes back to the agent until the tries are used up", () => {
    const once = after(stateOf(1, { checks: true, tries: 2 }), BEGIN, turn(1), failed(1))
    expect(once.effects).toEqual([{ do: "turn", task: 1, message: "no" }])
    const twice = after(once.now, turn(1), failed(1))
    expect(twice.now.tasks).toMatchObject([{ state: "failed", tries: 2, note: "the check failed" }])
    expect(twice.now.phase).toEqual({ name: "over", outcome: "failed" })
    const passed = after(once.now, turn(1), { type: "checked", task: 1 })
    expect(passed.now.phase).toEqual({ name: "over", outcome: "done" })
    expect(passed.now.tasks[0]).not.toHaveProperty("note")
  })

  it("[LP3] a turn that failed is tried again without a check; one that was given up is not", () => {
    const error = after(stateOf(1, { checks: true }), BEGIN, turn(1, { kind: "error", text: "overloaded" }))
    expect(error.effects).toMatchObject([{ do: "turn", task: 1, message: expect.stringContaining("overloaded") }])
    const gaveUp = after(stateOf(1), BEGIN, turn(1, { kind: "given-up", text: "admin interrupted it" }))
    expect(gaveUp.now.tasks).toMatchObject([{ state: "failed", tries: 1, note: "admin interrupted it" }])
  })

  it("[LP4] at the cost limit what works is stopped, and what is checked is waited for", () => {
    const plan = { atOnce: 3, checks: true, maxCostUsd: 1 }
    const begun = after(stateOf(4, plan), BEGIN, turn(1, { kind: "answered" }, 0.4))
    const limit = after(begun.now, turn(2, { kind: "answered" }, 0.6))
    expect(limit.states).toEqual(["checking", "checking", "leaving", "waiting"])
    const end = after(limit.now, { type: "checked", task: 1 }, failed(2), { type: "left", task: 3, costUsd: 0.1 })
    expect(end.states).toEqual(["done", "waiting", "waiting", "waiting"])
    expect(end.now.phase).toEqual({ name: "over", outcome: "stopped", why: { kind: "cost" } })
  })

  it("[LP4] at the turn limit nothing new is begun, and what is under way is brought to its end", () => {
    const begun = after(stateOf(3, { atOnce: 2, maxTurns: 2 }), BEGIN, turn(1))
    expect(begun.states).toEqual(["done", "working", "waiting"])
    const end = after(begun.now, turn(2))
    expect(end.now.phase).toEqual({ name: "over", outcome: "stopped", why: { kind: "turns" } })
    const whole = after(stateOf(2, { maxTurns: 2 }), BEGIN, turn(1), turn(2))
    expect(whole.now.phase).toEqual({ name: "over", outcome: "done" })
  })

  it("[LP5] deny-and-interrupt stops the whole run", () => {
    const { now, effects } = after(stateOf(3, { atOnce: 2 }), BEGIN, turn(2, { kind: "halted", by: "ann" }))
    expect(effects).toEqual([
      { do: "leave", task: 1 },
      { do: "leave", task: 2 },
    ])
    expect(now.phase).toEqual({ name: "stopping", why: { kind: "person", by: "ann", task: 2 } })
  })

  it("[LP8] a launch that is refused stops the run, and counts as no try", () => {
    const end = { kind: "refused", code: "runner/none", message: "no runner" } as const
    const { now } = after(stateOf(2), BEGIN, turn(1, end))
    expect(now.tasks.map(({ state, tries }) => [state, tries])).toEqual([
      ["waiting", 0],
      ["waiting", 0],
    ])
    expect(now.phase).toMatchObject({ name: "over", outcome: "stopped", why: { kind: "refused", code: "runner/none" } })
  })

  it("[LP12] a turn that was stopped counts as no try, but as a turn that was taken", () => {
    const plan = { checks: true, tries: 2, maxTurns: 3 }
    const stopped = after(stateOf(1, plan), BEGIN, { type: "launched", task: 1, session: "s" }, { type: "stop" })
    // As it is recorded while the agent is still being stopped.
    expect(stopped.now.tasks.map(recordOf)).toMatchObject([{ state: "waiting", tries: 0, turns: 1 }])
    const left = after(stopped.now, { type: "left", task: 1 })
    expect(left.now.tasks).toMatchObject([{ state: "waiting", tries: 0, turns: 1 }])
    const resumed = after(takenUp(left.now), BEGIN)
    expect(resumed.effects).toMatchObject([{ do: "turn", task: 1, message: expect.stringContaining("continue") }])
    expect(resumed.now.tasks).toMatchObject([{ state: "working", tries: 1, turns: 2 }])
    const again = after(resumed.now, turn(1), failed(1))
    expect(again.now.tasks).toMatchObject([{ state: "working", tries: 2, turns: 3 }])
    expect(after(again.now, turn(1), failed(1)).now.tasks).toMatchObject([{ state: "failed", tries: 2, turns: 3 }])
  })

  it("[LP12] nor does one that was stopped while it was checked: a check that was broken off says nothing", () => {
    const stopped = after(stateOf(1, { checks: true }), BEGIN, turn(1), { type: "stop" })
    expect(stopped.states).toEqual(["leaving"])
    expect(stopped.now.tasks.map(recordOf)).toMatchObject([{ state: "waiting", tries: 0, turns: 1 }])
    const left = after(stopped.now, { type: "left", task: 1 })
    expect(left.now.tasks).toMatchObject([{ state: "waiting", tries: 0, turns: 1 }])
  })

  it("[LP12] a run that is taken up repeats nothing: what was begun is taken up first, and counts once", () => {
    const state = stateFrom(
      {
        tasks: [
          { text: "a", state: "done", tries: 1, costUsd: 1 },
          { text: "b", state: "waiting", tries: 1, session: "s2" },
          { text: "c", state: "running", tries: 2, session: "s3" },
          { text: "d", state: "running", tries: 1 },
          { text: "e", state: "failed", tries: 3 },
        ],
      },
      { ...PLAN, atOnce: 2, maxTurns: 8 },
    )
    const { now, effects } = after(state, BEGIN)
    expect(now.tasks.map((task) => [task.state, task.tries])).toEqual([
      ["done", 1],
      ["waiting", 1],
      ["working", 2],
      ["working", 1],
      ["failed", 3],
    ])
    expect(effects).toMatchObject([
      { do: "turn", task: 3, message: expect.stringContaining("continue") },
      { do: "turn", task: 4, message: "d" },
    ])
    const end = after(now, turn(3), turn(4))
    // All eight turns were begun.
    expect(end.now.phase).toMatchObject({ name: "over", outcome: "stopped", why: { kind: "turns" } })
  })
})

/** Whatever agents, checks and people do: an answer to each thing that the run wants done, in any order. */
const happening = fc.record({
  pick: fc.nat(),
  end: fc.constantFrom<TurnEnd>(
    { kind: "answered" },
    { kind: "answered" },
    { kind: "answered" },
    { kind: "error", text: "e" },
    { kind: "given-up", text: "g" },
    { kind: "halted", by: "p" },
    { kind: "refused", code: "c", message: "m" },
  ),
  costUsd: fc.double({ min: 0, max: 0.5, noNaN: true }),
  passes: fc.boolean(),
  stops: fc.integer({ min: 0, max: 60 }).map((value) => value === 0),
  dies: fc.integer({ min: 0, max: 30 }).map((value) => value === 0),
})
type Happening = typeof happening extends fc.Arbitrary<infer Value> ? Value : never

const plans: fc.Arbitrary<Plan> = fc
  .record({
    atOnce: fc.integer({ min: 1, max: 4 }),
    tries: fc.integer({ min: 1, max: 4 }),
    checks: fc.boolean(),
    maxCostUsd: fc.option(fc.double({ min: 0.1, max: 3, noNaN: true }), { nil: undefined }),
    maxTurns: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  })
  .map(({ maxCostUsd, maxTurns, ...plan }) => ({
    ...plan,
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
  }))

function answerTo(effect: Effect, state: RunState, what: Happening): RunInput | undefined {
  const task = state.tasks[effect.task - 1]
  const costUsd = (task?.costUsd ?? 0) + what.costUsd
  if (effect.do === "turn") return { type: "turn", task: effect.task, end: what.end, costUsd }
  if (effect.do === "leave") return { type: "left", task: effect.task, costUsd }
  if (effect.do === "close") return undefined
  return what.passes
    ? { type: "checked", task: effect.task }
    : { type: "checked", task: effect.task, failure: { text: "t", note: "n" } }
}

/** The run as another loop finds it on the hub. */
function takenUp(state: RunState): RunState {
  return stateFrom(
    {
      tasks: state.tasks.map((task) => ({
        ...recordOf(task),
        text: task.text,
        state: recordOf(task).state ?? "waiting",
      })),
    },
    state.plan,
  )
}

/** What must hold after every step, whatever it was. */
function problemsOf(before: RunState, now: RunState, effects: readonly Effect[]): string[] {
  const { atOnce, maxTurns, maxCostUsd } = now.plan
  const isChanged = before.tasks.some((task, index) => isFinished(task) && now.tasks[index] !== task)
  const isSpent = maxCostUsd !== undefined && costOf(before) >= maxCostUsd
  const stray = effects.some(
    ({ do: what, task }) => what !== "close" && !now.tasks.some((each) => each.number === task && isActive(each)),
  )
  return [
    ...(isChanged ? ["what was finished has changed"] : []),
    ...(now.tasks.filter(isActive).length > atOnce ? ["too many at once"] : []),
    ...(turnsOf(now) > (maxTurns ?? Number.POSITIVE_INFINITY) ? ["too many turns"] : []),
    ...(isSpent && turnsOf(now) > turnsOf(before) ? ["a turn was begun beyond the cost limit"] : []),
    ...(stray ? ["something is to be done for a task that is not at work"] : []),
  ]
}

/** Plays what happens until the run is over. */
function play(
  start: RunState,
  all: readonly Happening[],
): { readonly end: RunState; readonly problems: readonly string[] } {
  let state = start
  let open: Effect[] = []
  const problems: string[] = []
  const take = (input: RunInput) => {
    const { state: now, effects } = step(state, input)
    problems.push(...problemsOf(state, now, effects))
    open.push(...effects)
    state = now
  }
  take({ type: "begin" })
  for (const what of all) {
    if (state.phase.name === "over") break
    if (what.dies) {
      state = takenUp(state)
      open = []
      take({ type: "begin" })
    }
    if (what.stops) take({ type: "stop" })
    const [effect] = open.splice(what.pick % Math.max(1, open.length), 1)
    const input = effect === undefined ? undefined : answerTo(effect, state, what)
    if (input !== undefined) take(input)
  }
  return { end: state, problems }
}

describe("a run, whatever happens", () => {
  it("[LP7] keeps its bounds, changes nothing that is finished, and comes to its end", () => {
    const happenings = fc.array(happening, { minLength: 150, maxLength: 150 })
    fc.assert(
      fc.property(plans, fc.integer({ min: 1, max: 6 }), happenings, (plan, count, all) => {
        const { end, problems } = play(stateOf(count, plan), all)
        expect({ problems, phase: end.phase.name, active: end.tasks.filter(isActive) }).toEqual({
          problems: [],
          phase: "over",
          active: [],
        })
      }),
      { numRuns: 500 },
    )
  })
})
