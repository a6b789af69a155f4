import { existsSync } from "node:fs"
import { HubClientError } from "@signalbox/client"
import { CliError } from "../base/failure.ts"
import { checkMessage, runCheck } from "./check-command.ts"
import type { LastingHub } from "./lasting-hub.ts"
import type { RunSettings } from "./run-record.ts"
import { recordOf } from "./run-record.ts"
import type { Effect, RunInput, RunState, Task } from "./run-state.ts"
import { step } from "./run-step.ts"
import { takeTurn } from "./take-turn.ts"

export interface WorkOptions {
  readonly hub: LastingHub
  readonly run: string
  /** A command of ours to type, with the data directory that this one has. */
  readonly command: (words: string) => string
  readonly settings: RunSettings
  readonly state: RunState
  readonly env: NodeJS.ProcessEnv
  readonly onChange: (state: RunState, before: RunState) => void
}

/** An agent that does not answer an interrupt is stopped all the same. */
const INTERRUPT_MS = 5_000
/** How long leaving the agents in good order may take while the hub does not answer. */
const LEAVE_MS = 40_000

interface UnderWay {
  readonly ending: AbortController
  readonly done: Promise<void>
}

/** Works through a run: carries out the effects of the state machine, reports back to it, and keeps the hub's record. */
export class WorkThrough {
  readonly #options: WorkOptions
  #state: RunState
  /** By task: its turn or its check. */
  readonly #underWay = new Map<number, UnderWay>()
  /** By task: what the hub was last told, and when that is done. */
  readonly #told = new Map<number, { readonly text: string; readonly done: Promise<void> }>()
  readonly #jobs = new Set<Promise<void>>()
  /** Aborts when the run is to stop and the hub does not answer. */
  readonly #giveUp = new AbortController()
  #giveUpTimer: NodeJS.Timeout | undefined
  #isStopped = false
  #trouble: { readonly error: unknown } | undefined

  constructor(options: WorkOptions) {
    this.#options = options
    this.#state = options.state
    for (const task of options.state.tasks)
      this.#told.set(task.number, { text: JSON.stringify(recordOf(task)), done: Promise.resolve() })
  }

  /** Resolves with the run at its end. */
  async finish(): Promise<RunState> {
    this.#take({ type: "begin" })
    while (this.#jobs.size > 0) await Promise.race(this.#jobs)
    clearTimeout(this.#giveUpTimer)
    await Promise.all([...this.#told.values()].map(({ done }) => done)).catch((error: unknown) => {
      this.#trouble ??= { error }
    })
    if (this.#giveUp.signal.aborted) throw hubAway(this.#options)
    if (this.#trouble !== undefined) throw this.#trouble.error
    return this.#state
  }

  /** Interrupts and stops all agents; the run can be resumed later. Called twice, it waits for nothing any more. */
  stop(): void {
    if (this.#isStopped) return this.#giveUp.abort()
    this.#isStopped = true
    const timer = setTimeout(() => this.#giveUp.abort(), LEAVE_MS)
    this.#giveUpTimer = timer
    this.#take({ type: "stop" })
  }

  #take(input: RunInput): void {
    const before = this.#state
    const { state, effects } = step(before, input)
    this.#state = state
    for (const task of state.tasks) this.#tell(task)
    if (state !== before) this.#options.onChange(state, before)
    for (const effect of effects) this.#start(effect)
  }

  /** Records a change of the task; changes are sent in order. */
  #tell(task: Task): void {
    const record = recordOf(task)
    const text = JSON.stringify(record)
    const last = this.#told.get(task.number)
    if (last?.text === text) return
    const { hub, run } = this.#options
    const tell = () => hub.call((each) => each.runs.changeTask(run, task.number, record), this.#giveUp.signal)
    const done = (last?.done ?? Promise.resolve()).then(tell).then(() => undefined)
    done.catch((error: unknown) => this.#fail(error))
    this.#told.set(task.number, { text, done })
  }

  #start(effect: Effect): void {
    const job: Promise<void> = this.#run(effect)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#jobs.delete(job))
    this.#jobs.add(job)
  }

  /** An unexpected failure ends the run; its agents are left in good order first. */
  #fail(error: unknown): void {
    if (this.#trouble !== undefined) return
    this.#trouble = { error }
    if (!this.#isStopped) this.stop()
  }

  async #run(effect: Effect): Promise<void> {
    const task = this.#state.tasks[effect.task - 1]
    if (task === undefined) return
    switch (effect.do) {
      case "turn":
        return this.#turn(task, effect.message)
      case "check":
        return this.#check(task)
      case "leave":
        return this.#leave(task)
      case "close":
        return this.#close(task)
    }
  }

  async #turn(task: Task, message: string): Promise<void> {
    const { hub, run, settings } = this.#options
    const { number } = task
    // Recorded first, so that whoever resumes the run knows that this turn began.
    await this.#told.get(number)?.done
    await this.#whileUnderWay(number, async (signal) => {
      const report = await takeTurn({
        hub,
        run,
        settings,
        task,
        message,
        signal,
        onSession: (session) => this.#take({ type: "launched", task: number, session }),
        onAsks: (asks) => this.#take({ type: "asks", task: number, asks }),
      })
      this.#take({ type: "turn", task: number, ...report })
    })
  }

  async #check(task: Task): Promise<void> {
    const { run, settings, env } = this.#options
    const { number, text, tries } = task
    await this.#whileUnderWay(number, async (signal) => {
      const variables = { SIGNALBOX_RUN: run, SIGNALBOX_TASK: String(number), SIGNALBOX_TRY: String(tries) }
      const cwd = await this.#folderOf(task, signal)
      const failed = await runCheck({ command: settings.verify ?? "", cwd, env: { ...env, ...variables }, signal })
      if (signal.aborted) return
      const failure = failed && { text: checkMessage(failed, text), note: `${failed.command} failed (${failed.how})` }
      this.#take({ type: "checked", task: number, ...(failure === undefined ? {} : { failure }) })
    })
  }

  async #folderOf({ session, number }: Task, signal: AbortSignal): Promise<string> {
    const { hub, settings } = this.#options
    const cwd = session === undefined ? undefined : (await hub.call((each) => each.session(session).get(), signal)).cwd
    const folder = cwd ?? settings.cwd
    if (folder != null && existsSync(folder)) return folder
    const where = folder ?? "its folder"
    throw new CliError("cli/failed", `can't check task ${number}: ${where} is not on this machine, where --verify runs`)
  }

  async #whileUnderWay(number: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    // The task was left before this began.
    if (this.#state.tasks[number - 1]?.state === "leaving") return
    const ending = new AbortController()
    const done = work(ending.signal).catch((error: unknown) => {
      if (!ending.signal.aborted) throw error
    })
    const entry = { ending, done }
    this.#underWay.set(number, entry)
    await done.finally(() => {
      if (this.#underWay.get(number) === entry) this.#underWay.delete(number)
    })
  }

  async #leave({ number }: Task): Promise<void> {
    const underWay = this.#underWay.get(number)
    underWay?.ending.abort()
    // An agent that is just starting is stopped when it is there.
    const begun = underWay?.done.catch(() => undefined)
    const recorded = this.#told.get(number)?.done.catch(() => undefined)
    await Promise.race([Promise.all([begun, recorded]), aborted(this.#giveUp.signal)])
    const { session } = this.#state.tasks[number - 1] ?? {}
    const costUsd = session === undefined ? undefined : await this.#stopAgent(session)
    this.#take({ type: "left", task: number, ...(costUsd === undefined ? {} : { costUsd }) })
  }

  /** Interrupts first, so that the turn has an end in the history. */
  async #stopAgent(session: string): Promise<number | undefined> {
    const { hub } = this.#options
    const { signal } = this.#giveUp
    const interrupt = () => hub.hub.session(session).interrupt({ timeoutMs: INTERRUPT_MS, signal })
    try {
      const { state } = await hub.call((each) => each.session(session).get(), signal)
      if (state !== "ended") await interrupt().catch(() => undefined)
      await hub.call((each) => each.session(session).stop(), signal)
      return (await hub.call((each) => each.session(session).get(), signal)).costUsd
    } catch {
      // The hub is offline: the agent keeps running until somebody stops it, and the run can be resumed.
      return undefined
    }
  }

  async #close({ session }: Task): Promise<void> {
    if (session === undefined) return
    const { signal } = this.#giveUp
    await this.#options.hub
      .call((each) => each.session(session).stop(), signal)
      .catch((error: unknown) => {
        // A session that is gone needs no stop.
        if (!(error instanceof HubClientError) || error.status !== 404) throw error
      })
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
}

function hubAway({ run, command }: WorkOptions): CliError {
  const message = `the hub did not answer in time, so agents may still be running: see "${command("ls")}", and resume with "${command(`loop --resume ${run}`)}"`
  return new CliError("cli/no-hub", message)
}
