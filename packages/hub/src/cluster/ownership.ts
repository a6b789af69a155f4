import { HubError } from "../errors.ts"
import {
  type ClusterStore,
  LEASE_MS,
  type LostSession,
  type OwnedSession,
  type SeenHub,
} from "../store/cluster-store.ts"
import { movedError } from "../store/store-failure.ts"
import type { Fellows } from "./fellows.ts"
import type { Membership } from "./membership.ts"

export interface OwnershipOptions {
  readonly store: ClusterStore
  readonly membership: Pick<Membership, "id" | "find" | "others" | "refresh" | "hasLease">
  readonly fellows: Pick<Fellows, "call">
}

/** Where a session is. `free`: no living hub has it, and whoever needs it claims it. */
export type Home = { readonly kind: "here" | "free" } | { readonly kind: "fellow"; readonly fellow: SeenHub }

const HERE: Home = { kind: "here" }
const FREE: Home = { kind: "free" }
/** The hub that has it waits for a start that is under way. */
const RELEASE_TIMEOUT_MS = 20_000

/** Which hub has which session: this one's are in its memory, and no others are. */
export class ClusterOwnership {
  readonly #options: OwnershipOptions
  /** Calls of this hub that are at a key, by it. */
  readonly #starting = new Map<string, number>()

  constructor(options: OwnershipOptions) {
    this.#options = options
  }

  get isCurrent(): boolean {
    return this.#options.membership.hasLease
  }

  begin(id: string): void {
    this.#options.store.begin(id)
  }

  async claim(id: string): Promise<void> {
    // Another hub may take what this one claims now, and nobody would tell it.
    if (!this.isCurrent) throw movedError(id)
    const claimed = await this.#options.store.claim(id, { leaseMs: LEASE_MS, force: false })
    if (claimed.isOurs) return
    // Had it been this hub's, it is no more.
    this.drop(id)
    throw elsewhere(id, this.#options.membership.find(claimed.owner))
  }

  /** A hub that is alive and cannot be reached is not waited for: it has not the agent, and what it writes is refused from now on. */
  async take(id: string, spawn: string | undefined): Promise<void> {
    const fellow = await this.fellowOf(id)
    if (fellow === undefined) return
    try {
      await this.#askFor(fellow, id, spawn)
    } catch (error) {
      if (!(error instanceof HubError && error.code === "hub/unreachable")) throw error
      if (!this.isCurrent) throw movedError(id)
      await this.#options.store.claim(id, { leaseMs: LEASE_MS, force: true })
    }
  }

  /** Every living hub is asked: only then nobody knows the process. */
  async takeUnsaved(id: string, spawn: string | undefined): Promise<void> {
    const { membership } = this.#options
    await membership.refresh()
    await Promise.all(membership.others.map((fellow) => this.#askFor(fellow, id, spawn)))
  }

  async #askFor(fellow: SeenHub, id: string, spawn: string | undefined): Promise<void> {
    const { membership, fellows } = this.#options
    const path = `/sessions/${encodeURIComponent(id)}/release`
    await fellows.call(fellow, { method: "POST", path, body: { spawn, next: membership.id } }, RELEASE_TIMEOUT_MS)
  }

  /** The sessions of this hub that another one has claimed: nobody tells a hub that could not be reached. */
  lost(): Promise<readonly LostSession[]> {
    return this.#options.store.lost()
  }

  release(id: string, next?: string): Promise<void> {
    return this.#options.store.release(id, next)
  }

  drop(id: string): void {
    this.#options.store.drop(id)
  }

  /** Does what finds or starts the session with this key, unless another hub is at it. */
  async once<T>(key: string, start: () => Promise<T>): Promise<T> {
    const { store } = this.#options
    this.#starting.set(key, (this.#starting.get(key) ?? 0) + 1)
    try {
      if (!(await store.claimKey(key))) throw startedElsewhere(key)
      return await start()
    } finally {
      const left = (this.#starting.get(key) ?? 1) - 1
      if (left > 0) this.#starting.set(key, left)
      else {
        this.#starting.delete(key)
        // It runs out by itself.
        await store.releaseKey(key).catch(() => undefined)
      }
    }
  }

  async homeOf(id: string): Promise<Home> {
    const { store } = this.#options
    if (store.epochOf(id) !== undefined) return HERE
    return this.#homeFrom((await store.owners([id])).get(id)?.owner)
  }

  /** The living hub that has the session, unless it is this one. */
  async fellowOf(session: string): Promise<SeenHub | undefined> {
    const home = await this.homeOf(session)
    return home.kind === "fellow" ? home.fellow : undefined
  }

  /** The store's facts about sessions that are not in memory here. */
  async describe(ids: readonly string[]): Promise<ReadonlyMap<string, OwnedSession & { isOrphan: boolean }>> {
    if (ids.length === 0) return new Map()
    const { store, membership } = this.#options
    const found = await store.owners(ids)
    return new Map(
      [...found].map(([id, { owner, ...facts }]) => {
        const isAlive = owner !== undefined && membership.find(owner) !== undefined
        return [id, { ...facts, owner: isAlive ? owner : undefined, isOrphan: owner !== undefined && !isAlive }]
      }),
    )
  }

  async #homeFrom(owner: string | undefined): Promise<Home> {
    const { membership } = this.#options
    if (owner === undefined || owner === membership.id) return FREE
    // It may have joined a moment ago.
    if (membership.find(owner) === undefined) await membership.refresh()
    const fellow = membership.find(owner)
    return fellow === undefined ? FREE : { kind: "fellow", fellow }
  }
}

function startedElsewhere(key: string): HubError {
  const words = `A session with the requestKey ${key} is being started on another hub: try again in a moment.`
  return new HubError("hub/moved", words, { details: { isElsewhere: true, retryAfterSeconds: 1 } })
}

function elsewhere(session: string, fellow: SeenHub | undefined): HubError {
  const where = fellow === undefined ? "another hub" : `the hub at ${fellow.url}`
  return new HubError("hub/moved", `Session ${session} is on ${where}: try again in a moment, or use that hub.`, {
    details: { session, isElsewhere: true, retryAfterSeconds: 1 },
  })
}
