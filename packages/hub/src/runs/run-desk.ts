import { randomUUID } from "node:crypto"
import type { NewRun, Run, RunPatch, TaskPatch } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import { runNamed, runOf } from "../model/purged.ts"
import type { Directory } from "../store/directory.ts"

export interface RunDeskOptions {
  readonly directory: Pick<Directory, "getSession" | "getDocument" | "putDocument">
  readonly now?: () => Date
}

const INDEX = "runs"
/** The oldest are forgotten. */
const MAX_RUNS = 1_000

/** Runs and their tasks, each kept as a whole: what was confirmed is on the disk. One change after the other. */
export class RunDesk {
  readonly #options: RunDeskOptions
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: RunDeskOptions) {
    this.#options = options
  }

  create({ title, tasks, options = {} }: NewRun, by: string): Promise<Run> {
    return this.#alone(async () => {
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
      const ids = await this.#ids()
      const kept = [...ids, run.id].slice(-MAX_RUNS)
      await Promise.all([
        this.#put(run),
        this.#options.directory.putDocument(INDEX, kept, { synced: true }),
        ...ids.filter((id) => !kept.includes(id)).map((id) => this.#options.directory.putDocument(runNamed(id), null)),
      ])
      return run
    })
  }

  change(id: string, patch: RunPatch): Promise<Run> {
    return this.#alone(async () => this.#put({ ...(await this.get(id)), ...patch, updatedAt: this.#now() }))
  }

  /** Tasks are counted from 1, as people count them. */
  changeTask(id: string, number: number, patch: TaskPatch): Promise<Run> {
    return this.#alone(async () => {
      if (patch.session !== undefined) await this.#link(await this.get(id), patch.session)
      const run = await this.get(id)
      const task = run.tasks[number - 1]
      if (task === undefined) {
        throw new HubError("run/unknown", `run ${id} has no task ${number}: it has ${run.tasks.length}, from 1 on`)
      }
      return this.#put({ ...run, updatedAt: this.#now(), tasks: run.tasks.with(number - 1, { ...task, ...patch }) })
    })
  }

  async get(id: string): Promise<Run> {
    const run = await this.#find(id)
    if (run === undefined) throw new HubError("run/unknown", `there is no run ${id}`)
    return run
  }

  /** Newest first. One that the index names and that was never written, after a kill in between, is none. */
  async list(limit: number): Promise<{ runs: readonly Run[]; more: boolean }> {
    const ids = (await this.#ids()).toReversed()
    const runs = await Promise.all(ids.slice(0, limit).map((id) => this.#find(id)))
    return { runs: runs.filter((run) => run !== undefined), more: ids.length > limit }
  }

  /** A purge of the session finds the run by it. */
  async #link({ id }: Run, session: string): Promise<void> {
    const { directory } = this.#options
    if ((await directory.getDocument(runOf(session))) === id) return
    if ((await directory.getSession(session)) !== undefined) await directory.putDocument(runOf(session), id)
  }

  async #find(id: string): Promise<Run | undefined> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a document of ours: nobody else writes it
    const run = (await this.#options.directory.getDocument(runNamed(id))) as Run | null | undefined
    return run ?? undefined
  }

  async #ids(): Promise<readonly string[]> {
    const kept = await this.#options.directory.getDocument(INDEX)
    return Array.isArray(kept) ? kept.filter((id) => typeof id === "string") : []
  }

  async #put(run: Run): Promise<Run> {
    await this.#options.directory.putDocument(runNamed(run.id), run, { synced: true })
    return run
  }

  #alone<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#last.then(change)
    this.#last = done.catch(() => undefined)
    return done
  }

  #now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }
}
