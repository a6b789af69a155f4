import type { HubInfo } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { ClusterStore, HubRow, SeenHub } from "../store/cluster-store.ts"
import type { HubCounts } from "./hubs.ts"

export interface MembershipOptions {
  readonly store: ClusterStore
  /** Where the other hubs reach this one. */
  readonly url: string
  readonly version: string
  readonly counts: () => HubCounts
  /** After each renewal: what the hubs share may have changed. */
  readonly onBeat?: () => Promise<void>
  /** The lease is over: other hubs may have taken over what this one had. Told once, until it is back. */
  readonly onLapsed: (error: unknown) => void
  readonly onBack: () => void
  readonly trouble: (what: string, error: unknown) => void
  /** In milliseconds, only going forward, also while the process is stopped. */
  readonly clock?: () => number
  /** The time of day, which goes on while the machine sleeps. */
  readonly wallClock?: () => number
}

/** The version of the calls between hubs. A hub with another number cannot work with this one. */
const CLUSTER_WIRE = 1
const BEAT_MS = 2_000
/** A hub that was not seen for so long, by the database's clock, is dead. */
export const LEASE_MS = 10_000
/** A hub gives up a little before the others take it for dead. */
const OWN_LEASE_MS = 9_000

/** The hub's place among those that share its database, which it renews every few seconds. */
export class Membership {
  /** New at each start: whoever was here before is another hub. */
  readonly id: string
  readonly #options: MembershipOptions
  readonly #clock: () => number
  readonly #wallClock: () => number
  #fellows: readonly SeenHub[] = []
  #leaseUntil = { clock: 0, wallClock: 0 }
  #isLapsed = false
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> | undefined
  #reading: Promise<void> | undefined
  #isOver = false

  private constructor(options: MembershipOptions) {
    this.#options = options
    this.id = options.store.hub
    this.#clock = options.clock ?? (() => performance.now())
    this.#wallClock = options.wallClock ?? (() => Date.now())
  }

  /** Refuses to join hubs that this one cannot work with. Somebody must leave. */
  static async join(options: MembershipOptions): Promise<Membership> {
    const membership = new Membership(options)
    await membership.#renew()
    const stranger = membership.#fellows.find(({ wire }) => wire !== CLUSTER_WIRE)
    if (stranger !== undefined) {
      await options.store.leave(membership.id)
      throw new HubError(
        "start/store",
        `the hub at ${stranger.url} runs version ${stranger.version}, which cannot share a database with this version (${options.version}): stop it first, or start that version here`,
      )
    }
    membership.#schedule()
    return membership
  }

  /** Those that are alive, this one too, the oldest first. */
  get fellows(): readonly SeenHub[] {
    return this.#fellows
  }

  get others(): readonly SeenHub[] {
    return this.#fellows.filter(({ id }) => id !== this.id)
  }

  /** The oldest hub does the work that only one of them must do. */
  get isFirst(): boolean {
    return this.#fellows[0]?.id === this.id
  }

  /** Undefined when it is dead, or not known yet. */
  find(id: string): SeenHub | undefined {
    return this.#fellows.find((hub) => hub.id === id)
  }

  /** Whether the others still take this hub for alive. Looked at anew each time: the process may have been stopped for a while. */
  get hasLease(): boolean {
    return this.#clock() < this.#leaseUntil.clock && this.#wallClock() < this.#leaseUntil.wallClock
  }

  list(): readonly HubInfo[] {
    return this.#fellows.map(({ wire: _wire, ...hub }) => {
      const isSelf = hub.id === this.id
      return { ...hub, ...(isSelf ? this.#options.counts() : {}), self: isSelf }
    })
  }

  /** The others may take over at once. */
  async leave(): Promise<void> {
    this.#isOver = true
    clearTimeout(this.#timer)
    await this.#beating
    await this.#reading
    await this.#options.store.leave(this.id).catch(() => undefined)
  }

  /** Reads anew who is alive. */
  refresh(): Promise<void> {
    return (this.#beating ??= this.#beat().finally(() => {
      this.#beating = undefined
    }))
  }

  #schedule(): void {
    if (this.#isOver) return
    this.#timer = setTimeout(() => void this.refresh().finally(() => this.#schedule()), BEAT_MS)
    this.#timer.unref()
  }

  async #beat(): Promise<void> {
    const { onBeat, onLapsed, onBack, trouble } = this.#options
    try {
      // Before the renewal: what others did to this hub's sessions meanwhile stands.
      if (!this.hasLease) this.#lapse(onLapsed, new Error("the lease was over before it could be renewed"))
      await this.#renew()
      if (this.#isLapsed) onBack()
      this.#isLapsed = false
    } catch (error) {
      if (!this.hasLease) this.#lapse(onLapsed, error)
      return
    }
    // Not waited for: it reads from the database as everybody does, and the next renewal must not come late.
    this.#reading ??= onBeat?.()
      .catch((error: unknown) => trouble("what hubs share could not be read", error))
      .finally(() => {
        this.#reading = undefined
      })
  }

  #lapse(onLapsed: MembershipOptions["onLapsed"], error: unknown): void {
    if (this.#isLapsed) return
    this.#isLapsed = true
    onLapsed(error)
  }

  async #renew(): Promise<void> {
    const [clock, wallClock] = [this.#clock() + OWN_LEASE_MS, this.#wallClock() + OWN_LEASE_MS]
    const { store, url, version, counts } = this.#options
    const own: HubRow = { id: this.id, url, version, wire: CLUSTER_WIRE, ...counts() }
    this.#fellows = await store.beat(own, LEASE_MS)
    this.#leaseUntil = { clock, wallClock }
  }
}
