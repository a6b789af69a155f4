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

/** The last thing that a runner did here, and how it is doing. */
interface News {
  readonly did: "join" | "change" | "leave"
  readonly told: unknown
}

const RETRY_MS = 1_000
/** The time that the way to another hub and back may take. */
const WAY_MS = 5_000

/** The runners of all hubs. Each hub tells of those that are connected to it. */
export class SharedRunners {
  readonly #options: SharedRunnersOptions
  /** Those that are connected here, with the number of their connection once it is known. */
  readonly #here = new Map<string, number | undefined>()
  /** What is still to be written, by the ids of runners. */
  readonly #untold = new Map<string, News>()
  #writing: Promise<void> = Promise.resolve()
  #retry: NodeJS.Timeout | undefined

  constructor(options: SharedRunnersOptions) {
    this.#options = options
  }

  joined(id: string, told: unknown): void {
    this.#here.set(id, undefined)
    this.#untold.set(id, { did: "join", told })
    this.#write()
  }

  /** Soon, and not each time. */
  changed(id: string, told: unknown): void {
    if (this.#here.has(id)) this.#untold.set(id, this.#with(id, { did: "change", told }))
  }

  left(id: string, told: unknown): void {
    this.#here.delete(id)
    this.#untold.set(id, this.#with(id, { did: "leave", told }))
    this.#write()
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
    this.#write()
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

  #with(id: string, news: News): News {
    const untold = this.#untold.get(id)
    return untold === undefined ? news : joinNews(untold, news)
  }

  #write(): void {
    this.#writing = this.#writing.then(() => this.#writeAll())
  }

  /** What cannot be written now, as the database is away, is written when it is back. */
  async #writeAll(): Promise<void> {
    for (const [id, news] of this.#untold) {
      this.#untold.delete(id)
      try {
        await this.#tell(id, news)
      } catch (error) {
        const newer = this.#untold.get(id)
        this.#untold.set(id, newer === undefined ? news : joinNews(news, newer))
        this.#options.trouble("what runners tell could not be shared yet", error)
        clearTimeout(this.#retry)
        this.#retry = setTimeout(() => this.#write(), RETRY_MS).unref()
        return
      }
    }
  }

  async #tell(id: string, { did, told }: News): Promise<void> {
    const { store } = this.#options
    if (did === "leave") return store.runnerLeft(id, told)
    const isKnown = did === "change" && ((await store.runnerChanged(id, told)) || (await this.#isAtFellow(id)))
    if (isKnown || !this.#here.has(id)) return
    const epoch = await store.runnerJoined(id, told)
    if (this.#here.has(id)) this.#here.set(id, epoch)
  }

  /** A living hub has it: the next list tells whether the runner has gone there. Otherwise its row is gone, or was taken by a hub that was cut off. */
  async #isAtFellow(id: string): Promise<boolean> {
    const { store, membership } = this.#options
    const hub = (await store.runners()).find((row) => row.id === id)?.hub
    return hub !== undefined && membership.find(hub) !== undefined
  }
}

/**
 * Both in one, as nobody has written the first. One that came and went meanwhile is only let go of: it may be at another hub by now, and
 * a row that says that it came here would take it from there.
 */
function joinNews(first: News, then: News): News {
  return then.did === "change" ? { ...first, told: then.told } : then
}
