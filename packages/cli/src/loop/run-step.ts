import {
  costOf,
  type Effect,
  factsOf,
  isActive,
  isFinished,
  moved,
  type RunInput,
  type RunState,
  type Step,
  type StopReason,
  stopped,
  type Task,
  type TurnEnd,
  turnsOf,
} from "./run-state.ts"

/** Moves a run. An input about a task that is no longer at that point changes nothing. */
export function step(state: RunState, input: RunInput): Step {
  if (state.phase.name === "over") return { state, effects: [] }
  return settle(react(state, input))
}

function react(state: RunState, input: RunInput): Step {
  const same = { state, effects: [] }
  if (input.type === "begin") return same
  if (input.type === "stop") return stopAll(same, { kind: "user" })
  const task = state.tasks[input.task - 1]
  if (task === undefined) return same
  switch (input.type) {
    case "launched":
      return changed(state, { ...task, session: input.session })
    case "asks":
      if (task.state !== "working" || task.asks === input.asks) return same
      return changed(state, { ...task, asks: input.asks })
    case "turn":
      if (task.state !== "working") return same
      return afterTurn(state, { ...task, costUsd: input.costUsd ?? task.costUsd }, input.end)
    case "checked":
      if (task.state !== "checking") return same
      return input.failure === undefined ? finished(state, task, "done") : again(state, task, input.failure)
    case "left":
      if (task.state !== "leaving") return same
      return changed(state, { ...moved(task, "waiting"), costUsd: input.costUsd ?? task.costUsd })
  }
}

function afterTurn(state: RunState, task: Task, end: TurnEnd): Step {
  switch (end.kind) {
    case "answered":
      return state.plan.checks
        ? changed(state, moved(task, "checking"), { do: "check", task: task.number })
        : finished(state, task, "done")
    case "error":
      return again(state, task, { text: failureMessage(end.text, task.text), note: end.text })
    case "given-up":
      return finished(state, { ...task, note: end.text }, "failed")
    case "halted":
      return stopAll(changed(state, { ...task, note: `${end.by} denied a request and interrupted it` }), {
        kind: "person",
        by: end.by,
        task: task.number,
      })
    case "refused": {
      // The turn never began.
      const before = changed(state, { ...moved(stopped(task), "waiting"), turns: task.turns - 1 })
      return stopAll(before, { kind: "refused", message: end.message, code: end.code })
    }
  }
}

/** Tells the agent what is wrong and lets it try again, if it may. */
function again(state: RunState, task: Task, { text, note }: { readonly text: string; readonly note: string }): Step {
  if (task.tries >= state.plan.tries) return finished(state, { ...task, note }, "failed")
  const mayBegin = state.phase.name === "running" && limitReached(withTask(state, task)) === undefined
  if (mayBegin) return changed(state, begun({ ...task, note }), { do: "turn", task: task.number, message: text })
  return changed(state, { ...moved(task, "waiting"), note }, { do: "close", task: task.number })
}

function finished(state: RunState, task: Task, how: "done" | "failed"): Step {
  // A note about an earlier failure no longer holds.
  const { note, ...rest } = factsOf(task)
  const kept = how === "failed" && note !== undefined ? { note } : {}
  return changed(state, { ...rest, ...kept, state: how }, { do: "close", task: task.number })
}

/** Starts what may start, and checks whether the run is over. */
function settle(before: Step): Step {
  const limited = stopAtCost(before)
  const { state, effects } = limited.state.phase.name === "running" ? fill(limited) : limited
  if (state.phase.name === "over" || state.tasks.some(isActive)) return { state, effects }
  const isAtEnd = state.phase.name === "stopping" || state.tasks.every(isFinished)
  return isAtEnd ? { state: over(state), effects } : { state, effects }
}

/** Turns under way keep costing, so they are stopped at the limit. A check costs nothing. */
function stopAtCost(step: Step): Step {
  const { state } = step
  const isOut = limitReached(state) === "cost" && !state.tasks.every(isFinished)
  if (!isOut || state.phase.name === "stopping") return step
  return leave(stopping(step, { kind: "cost" }), ({ state: name }) => name === "working" || name === "cut")
}

function fill(start: Step): Step {
  let { state, effects } = start
  while (state.tasks.filter(isActive).length < state.plan.atOnce) {
    const task =
      state.tasks.find((each) => each.state === "cut") ?? state.tasks.find((each) => each.state === "waiting")
    if (task === undefined) break
    // A turn that was cut off was counted when it began.
    const limit = task.state === "cut" ? undefined : limitReached(state)
    if (limit !== undefined) return stopping({ state, effects }, { kind: limit })
    const message = isFirstTurn(task) ? task.text : continueMessage(task.text)
    const next: Task = task.state === "cut" ? working(task) : begun(task)
    effects = [...effects, { do: "turn", task: task.number, message }]
    state = withTask(state, next)
  }
  return { state, effects }
}

/** The agent has not been told the task yet, or is just being told. */
function isFirstTurn({ state, turns, session }: Task): boolean {
  return session === undefined || turns === 0 || (state === "cut" && turns === 1)
}

function begun(task: Task): Task {
  return { ...working(task), tries: task.tries + 1, turns: task.turns + 1 }
}

function working(task: Task): Task {
  return { ...factsOf(task), state: "working", asks: false }
}

function limitReached(state: RunState): "cost" | "turns" | undefined {
  const { maxCostUsd, maxTurns } = state.plan
  if (maxCostUsd !== undefined && costOf(state) >= maxCostUsd) return "cost"
  return maxTurns !== undefined && turnsOf(state) >= maxTurns ? "turns" : undefined
}

function stopAll(step: Step, why: StopReason): Step {
  return leave(stopping(step, why), (task) => task.state === "cut" || isActive(task))
}

/** The first reason counts. */
function stopping({ state, effects }: Step, why: StopReason): Step {
  return { state: state.phase.name === "running" ? { ...state, phase: { name: "stopping", why } } : state, effects }
}

function leave({ state, effects }: Step, isMeant: (task: Task) => boolean): Step {
  const meant = state.tasks.filter((task) => isMeant(task) && task.state !== "leaving")
  const tasks = state.tasks.map((task): Task => (meant.includes(task) ? left(task) : task))
  return {
    state: { ...state, tasks },
    effects: [...effects, ...meant.map(({ number }): Effect => ({ do: "leave", task: number }))],
  }
}

/** Counts as no try, even during a check: an aborted check says nothing either. */
function left(task: Task): Task {
  return moved(stopped(task), "leaving")
}

function over(state: RunState): RunState {
  const { tasks, phase } = state
  const why = phase.name === "stopping" ? { why: phase.why } : {}
  if (!tasks.every(isFinished)) return { ...state, phase: { name: "over", outcome: "stopped", ...why } }
  const outcome = tasks.every((task) => task.state === "done") ? "done" : "failed"
  return { ...state, phase: { name: "over", outcome, ...why } }
}

function changed(state: RunState, task: Task, ...effects: readonly Effect[]): Step {
  return { state: withTask(state, task), effects }
}

function withTask(state: RunState, task: Task): RunState {
  return { ...state, tasks: state.tasks.with(task.number - 1, task) }
}

function failureMessage(what: string, task: string): string {
  return `The last turn ended with an error: ${what}\n\nContinue with the task:\n\n${task}`
}

function continueMessage(task: string): string {
  return `You were stopped before the task was done. Look at what is already done, then continue:\n\n${task}`
}
