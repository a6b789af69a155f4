import { isObject } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { ClusterStore, SeenHub } from "../store/cluster-store.ts"
import type { Fellows } from "./fellows.ts"
import type { Membership } from "./membership.ts"

export interface SharedRunnersOptions {
  readonly store: ClusterStore
  readonly membership: Pick<Membership, "id" | "find" | "refresh">
  readonly fellows: Pick<Fellows, "call">
  readonly trouble: (what: string, error: unknown) => void
}

/** A runner as the hub that it is connected to has told of it. */
export interface SharedRunner {
  readonly id: string
  /** The facts of a runner and how it is doing, as its hub told them. */
  readonly told: unknown
  readonly draining: boolean
  readonly where: "here" | "away" | ElsewhereRunner
}

/** It is connected to a fellow hub. */
interface ElsewhereRunner {
  /** Higher than at any hub before. */
  readonly epoch: number
  request(request: unknown, timeoutMs: number): Promise<unknown>
}

/** The time that the way to another hub and back may take. */
const WAY_MS = 5_000

/** The runners of all hubs. Each hub tells of those that are connected to it. */
export class SharedRunners {
  readonly #options: SharedRunnersOptions
  /** Those that are connected here, with the number of their connection once it is known. */
  readonly #here = new Map<string, number | undefined>()
  /** Runners whose news is still to be written, by their ids. */
  readonly #untold = new Map<string, unknown>()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: SharedRunnersOptions) {
    this.#options = options
  }

  joined(id: string, told: unknown): void {
    this.#here.set(id, undefined)
    this.#untold.delete(id)
    this.#write(async (store) => {
      const epoch = await store.runnerJoined(id, told)
      if (this.#here.has(id)) this.#here.set(id, epoch)
    })
  }

  /** Soon, and not each time. */
  changed(id: string, told: unknown): void {
    if (this.#here.has(id)) this.#untold.set(id, told)
  }

  left(id: string, told: unknown): void {
    this.#here.delete(id)
    this.#untold.delete(id)
    this.#write((store) => store.runnerLeft(id, told))
  }

  drain(id: string, draining: boolean): Promise<void> {
    return this.#options.store.drainRunner(id, draining)
  }

  forget(id: string): Promise<void> {
    return this.#options.store.forgetRunner(id)
  }

  async settled(): Promise<void> {
    await this.#writing
  }

  /** All of them, after what is new here was told. `areHubsNew`: one may be at a hub that joined a moment ago. */
  async list({ areHubsNew = false } = {}): Promise<readonly SharedRunner[]> {
    const { store, membership } = this.#options
    if (areHubsNew) await membership.refresh()
    for (const [id, told] of this.#untold) this.#write((to) => to.runnerChanged(id, told))
    this.#untold.clear()
    await this.#writing
    const rows = await store.runners()
    return rows.flatMap(({ id, hub, epoch, told, draining }): SharedRunner[] => {
      const own = this.#here.get(id)
      const isHere = this.#here.has(id) && (own === undefined || own >= epoch)
      const fellow = hub === undefined || hub === membership.id ? undefined : membership.find(hub)
      if (isHere) return [{ id, told, draining, where: "here" }]
      if (fellow === undefined) return [{ id, told, draining, where: "away" }]
      return [{ id, told, draining, where: { epoch, request: (...asked) => this.#request(id, fellow, ...asked) } }]
    })
  }

  /** As the runner says it, or as one that went away says nothing. */
  async #request(id: string, fellow: SeenHub, request: unknown, timeoutMs: number): Promise<unknown> {
    const path = `/runners/${encodeURIComponent(id)}/request`
    try {
      const reply = await this.#options.fellows.call(
        fellow,
        { method: "POST", path, body: { request, timeoutMs } },
        timeoutMs + WAY_MS,
      )
      return isObject(reply) ? reply["result"] : undefined
    } catch (error) {
      if (!(error instanceof HubError)) throw error
      if (error.code === "hub/unreachable") throw new HubError("runner/away", error.message, { cause: error })
      // It may have been done all the same.
      if (error.code === "hub/moved") throw new HubError("runner/no-answer", error.message, { cause: error })
      throw error
    }
  }

  #write(write: (store: ClusterStore) => Promise<unknown>): void {
    const { store, trouble } = this.#options
    this.#writing = this.#writing
      .then(() => write(store))
      .then(() => undefined)
      .catch((error: unknown) => trouble("what runners tell could not be shared", error))
  }
}
