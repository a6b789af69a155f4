import { resolve } from "node:path"
import type { Run } from "@signalbox/client"
import { counted, defined } from "@signalbox/protocol"
import { type CommandContext, isOnThisMachine, nextCommand, withNextCommand } from "../base/context.ts"
import { type ExitCode, exitCodeOf, oneLine, usageError } from "../base/failure.ts"
import { findRun } from "../hub/abbreviated-id.ts"
import { hasHub, openOwnHub } from "../up/hub-here.ts"
import { LastingHub } from "./lasting-hub.ts"
import { type LoopOptions, planOf, type RunSettings, runSettings, shortNote, stateFrom } from "./run-record.ts"
import { reportFor, ToldRun } from "./run-report.ts"
import type { RunState } from "./run-state.ts"
import { stopText } from "./run-view.ts"
import { givenTasks } from "./task-list.ts"
import { WorkThrough } from "./work-through.ts"

const END_MS = 10_000

/** Works through a list of tasks. Exits 0 when all are done, 1 when one failed or it was stopped before. */
export async function loop(words: readonly string[], options: LoopOptions, context: CommandContext): Promise<void> {
  // A wrong command line is reported before anything starts.
  const tasks = options.resume === undefined ? givenTasks(words) : undefined
  if (tasks === undefined && words.length > 0) throw usageError("--resume takes no tasks: it resumes those of the run")
  runSettings(options)
  if (tasks?.texts.length === 0) {
    context.stderr.write(`Nothing to do: ${counted(tasks.ticked, "task is", "tasks are")} ticked.\n`)
    return
  }
  const stopping = stopSignals()
  const own = hasHub(options, context) ? undefined : await openOwnHub(options, context)
  try {
    if (own !== undefined)
      context.stderr.write(`signalbox: no hub was running; started one at ${own.url} for this run\n`)
    await withRun({ tasks, options, context, stopping })
  } finally {
    await own?.close()
    stopping.release()
  }
}

interface Start {
  readonly tasks: { readonly title: string; readonly texts: readonly string[] } | undefined
  readonly options: LoopOptions
  readonly context: CommandContext
  readonly stopping: StopSignals
}

async function withRun(start: Start): Promise<void> {
  const { options, context, stopping } = start
  const hub = new LastingHub(options, context)
  try {
    const { run, settings } = await openRun(hub, start)
    const state = stateFrom(run, planOf(settings))
    const command = (words: string) => nextCommand(words, options, context.env)
    const told = new ToldRun(run, state, { report: reportFor(context, options), command })
    hub.onAway = (isAway) => told.hubIsAway(isAway)
    const onChange = (next: RunState, before: RunState) => told.change(next, before)
    const work = new WorkThrough({ hub, run: run.id, command, settings, state, env: context.env, onChange })
    stopping.onStop(() => work.stop())
    try {
      const end = await work.finish()
      await recordEnd(hub, run.id, end)
      process.exitCode = exitCodeFor(end)
    } catch (error) {
      await recordTrouble(hub, run.id, error)
      throw error
    } finally {
      told.over()
    }
  } finally {
    hub.close()
  }
}

/** A new run, or a recorded one: then with its own settings, except for those given now. */
async function openRun(
  hub: LastingHub,
  { tasks, options, context }: Start,
): Promise<{ run: Run; settings: RunSettings }> {
  if (tasks === undefined) {
    const found = await findRun(hub.hub, options.resume ?? "").catch((error: unknown) => {
      throw withNextCommand(error, options, context.env)
    })
    const settings = runSettings(withFolder(options, hub), found.options)
    const isOver = found.tasks.every(({ state }) => state === "done" || state === "failed")
    const run = isOver ? found : await hub.call((each) => each.runs.change(found.id, { state: "running", note: "" }))
    return { run, settings }
  }
  const cwd = options.cwd ?? (isOnThisMachine(hub.url) ? "." : undefined)
  const settings = runSettings(withFolder({ ...options, ...defined({ cwd }) }, hub))
  const { title, texts } = tasks
  const run = { title, tasks: texts.map((text) => ({ text })), options: { ...settings } }
  return { run: await hub.hub.runs.create(run), settings }
}

/** A folder is one of the machine that the agents run on. */
function withFolder(options: LoopOptions, hub: LastingHub): LoopOptions {
  const { cwd } = options
  return cwd === undefined || !isOnThisMachine(hub.url) ? options : { ...options, cwd: resolve(cwd) }
}

async function recordEnd(hub: LastingHub, run: string, { phase }: RunState): Promise<void> {
  if (phase.name !== "over") return
  const note = phase.why === undefined ? "" : shortNote(stopText(phase.why))
  // Somebody who stops the run does not wait for an offline hub.
  const signal = phase.why?.kind === "user" ? AbortSignal.timeout(END_MS) : undefined
  await hub.call((each) => each.runs.change(run, { state: phase.outcome, note }), signal)
}

/** After an unexpected failure. An offline hub is not waited for: the run can be resumed as recorded. */
async function recordTrouble(hub: LastingHub, run: string, error: unknown): Promise<void> {
  const change = { state: "stopped", note: shortNote(oneLine(error)) } as const
  await hub.hub.runs.change(run, change).catch(() => undefined)
}

function exitCodeFor({ phase }: RunState): ExitCode {
  if (phase.name !== "over") return 1
  if (phase.why?.kind === "refused") return exitCodeOf(phase.why)
  return phase.outcome === "done" ? 0 : 1
}

interface StopSignals {
  /** Called at each, and at once if one came already. */
  onStop(stop: () => void): void
  release(): void
}

function stopSignals(): StopSignals {
  const stops: (() => void)[] = []
  let isAsked = false
  const ask = () => {
    isAsked = true
    for (const stop of stops) stop()
  }
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
  for (const signal of signals) process.on(signal, ask)
  return {
    onStop(stop) {
      stops.push(stop)
      if (isAsked) stop()
    },
    release() {
      for (const signal of signals) process.off(signal, ask)
    },
  }
}
