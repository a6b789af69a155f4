import { randomUUID } from "node:crypto"
import { isObject } from "@signalbox/protocol"
import type { NewRun, Run, RunPatch, TaskPatch } from "@signalbox/protocol/hub-api"
import { HubError, unknown } from "../errors.ts"
import { runNamed, runOf } from "../model/purged.ts"
import type { Directory } from "../store/directory.ts"

export interface RunDeskOptions {
  readonly directory: Pick<Directory, "getSession" | "getDocument" | "putDocument" | "changeDocument">
  readonly now?: () => Date
}

const INDEX = "runs"
/** The oldest are forgotten. */
const MAX_RUNS = 1_000
const SYNCED = { synced: true }

/** Runs and their tasks, each kept as a whole: what was confirmed is on the disk. Several hubs may change one. */
export class RunDesk {
  readonly #options: RunDeskOptions

  constructor(options: RunDeskOptions) {
    this.#options = options
  }

  async create({ title, tasks, options = {} }: NewRun, by: string): Promise<Run> {
    const { directory } = this.#options
    const at = this.#now()
    const run: Run = {
      id: randomUUID(),
      title,
      state: "running",
      createdAt: at,
      updatedAt: at,
      createdBy: by,
      options,
      tasks: tasks.map(({ text }) => ({ text, state: "waiting" })),
    }
    let forgotten: readonly string[] = []
    const add = (kept: unknown) => {
      const ids = [...idsIn(kept), run.id]
      forgotten = ids.slice(0, -MAX_RUNS)
      return ids.slice(-MAX_RUNS)
    }
    await Promise.all([
      directory.putDocument(runNamed(run.id), run, SYNCED),
      directory.changeDocument(INDEX, add, SYNCED),
    ])
    await Promise.all(forgotten.map((id) => directory.putDocument(runNamed(id), null)))
    return run
  }

  change(id: string, patch: RunPatch): Promise<Run> {
    return this.#change(id, (run) => ({ ...run, ...patch }))
  }

  /** Tasks are counted from 1, as people count them. */
  async changeTask(id: string, number: number, patch: TaskPatch): Promise<Run> {
    const { tasks } = await this.get(id)
    if (tasks[number - 1] === undefined)
      throw new HubError("run/unknown", `run ${id} has no task ${number}: it has ${tasks.length}, from 1 on`)
    if (patch.session !== undefined) await this.#link(id, patch.session)
    const change = (task: Run["tasks"][number], index: number) => (index === number - 1 ? { ...task, ...patch } : task)
    return this.#change(id, (run) => ({ ...run, tasks: run.tasks.map(change) }))
  }

  async get(id: string): Promise<Run> {
    return runIn(id, await this.#options.directory.getDocument(runNamed(id)))
  }

  /** Newest first. One that the index names and that was never written, after a kill in between, is none. */
  async list(limit: number): Promise<{ runs: readonly Run[]; more: boolean }> {
    const { directory } = this.#options
    const ids = idsIn(await directory.getDocument(INDEX)).toReversed()
    const runs = await Promise.all(ids.slice(0, limit).map((id) => directory.getDocument(runNamed(id))))
    return { runs: runs.filter(isRun), more: ids.length > limit }
  }

  /** A purge of the session finds the run by it. */
  async #link(id: string, session: string): Promise<void> {
    const { directory } = this.#options
    if ((await directory.getDocument(runOf(session))) === id) return
    if ((await directory.getSession(session)) !== undefined) await directory.putDocument(runOf(session), id)
  }

  async #change(id: string, change: (run: Run) => Run): Promise<Run> {
    const changed = (kept: unknown) => (isRun(kept) ? { ...change(kept), updatedAt: this.#now() } : undefined)
    return runIn(id, await this.#options.directory.changeDocument(runNamed(id), changed, SYNCED))
  }

  #now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }
}

/** A document of ours: nobody else writes it. A run that was forgotten is null. */
function isRun(kept: unknown): kept is Run {
  return isObject(kept)
}

function runIn(id: string, kept: unknown): Run {
  if (!isRun(kept)) throw unknown("run", id)
  return kept
}

function idsIn(kept: unknown): readonly string[] {
  return Array.isArray(kept) ? kept.filter((id) => typeof id === "string") : []
}
