import type { HubInfo } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import { type ClusterStore, type HubRow, LEASE_MS, type SeenHub } from "../store/cluster-store.ts"
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
  /** A hub that was here first and cannot work with this one: the place is given up for good. */
  #refusal: HubError | undefined
  /** Added to this machine's time of day, it is the database's. */
  #offsetMs = 0
  #timer: NodeJS.Timeout | undefined
  #lease: NodeJS.Timeout | undefined
  #beating: Promise<void> | undefined
  /** The beat after the one that is under way. */
  #next: Promise<void> | undefined
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
    const stranger = membership.#fellows.find(isStranger)
    if (stranger !== undefined) {
      await options.store.leave(membership.id)
      throw membership.#refusalBeside(stranger)
    }
    membership.#watchLease()
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
    return this.#leftMs > 0
  }

  get #leftMs(): number {
    if (this.#refusal !== undefined) return 0
    const { clock, wallClock } = this.#leaseUntil
    return Math.min(clock - this.#clock(), wallClock - this.#wallClock())
  }

  /** Why this hub has no place beside the others, and will have none. */
  get refusal(): HubError | undefined {
    return this.#refusal
  }

  /** The database's time, which is the same on every hub. */
  now(): Date {
    return new Date(this.#wallClock() + this.#offsetMs)
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
    clearTimeout(this.#lease)
    await this.#next
    await this.#beating
    await this.#reading
    await this.#options.store.leave(this.id).catch(() => undefined)
  }

  /** Reads anew who is alive. A beat that is under way may have been answered before now: another one comes after it. */
  refresh(): Promise<void> {
    if (this.#beating === undefined) return this.#begin()
    this.#next ??= this.#beating.then(() => {
      this.#next = undefined
      return this.#begin()
    })
    return this.#next
  }

  #begin(): Promise<void> {
    this.#beating = this.#beat().finally(() => {
      this.#beating = undefined
    })
    return this.#beating
  }

  #schedule(): void {
    if (this.#isOver) return
    this.#timer = setTimeout(() => void this.refresh().finally(() => this.#schedule()), BEAT_MS)
    this.#timer.unref()
  }

  async #beat(): Promise<void> {
    if (this.#isOver) return
    const { onBeat, onBack, trouble } = this.#options
    try {
      // Before the renewal: what others did to this hub's sessions meanwhile stands.
      if (!this.hasLease) this.#lapse(new Error("the lease was over before it could be renewed"))
      await this.#renew()
      const stranger = this.#strangerBefore()
      if (stranger !== undefined) return await this.#giveWay(stranger)
      this.#watchLease()
      if (this.#isLapsed) onBack()
      this.#isLapsed = false
    } catch (error) {
      if (!this.hasLease) this.#lapse(error)
      return
    }
    // Not waited for: it reads from the database as everybody does, and the next renewal must not come late.
    this.#reading ??= onBeat?.()
      .catch((error: unknown) => trouble("what hubs share could not be read", error))
      .finally(() => {
        this.#reading = undefined
      })
  }

  #lapse(error: unknown): void {
    if (this.#isLapsed) return
    this.#isLapsed = true
    this.#options.onLapsed(error)
  }

  /** The lease is over when its time is, also while a renewal that will never be answered is under way. */
  #watchLease(): void {
    clearTimeout(this.#lease)
    const look = () => {
      if (this.hasLease) this.#watchLease()
      else this.#lapse(new Error("the lease could not be renewed in time"))
    }
    this.#lease = setTimeout(look, Math.max(1, Math.ceil(this.#leftMs))).unref()
  }

  /** Two that join in the same moment do not see each other: the one that the database has as the later one goes. */
  #strangerBefore(): SeenHub | undefined {
    const place = this.#fellows.findIndex(({ id }) => id === this.id)
    return this.#fellows.slice(0, place).find(isStranger)
  }

  async #giveWay(stranger: SeenHub): Promise<void> {
    this.#refusal = this.#refusalBeside(stranger)
    this.#isOver = true
    clearTimeout(this.#lease)
    this.#lapse(this.#refusal)
    await this.#options.store.leave(this.id)
  }

  #refusalBeside({ url, version }: SeenHub): HubError {
    return new HubError(
      "start/store",
      `the hub at ${url} runs version ${version}, which cannot share a database with this version (${this.#options.version}): stop it first, or start that version here`,
    )
  }

  async #renew(): Promise<void> {
    const [begun, wallBegun] = [this.#clock(), this.#wallClock()]
    const { store, url, version, counts } = this.#options
    const own: HubRow = { id: this.id, url, version, wire: CLUSTER_WIRE, ...counts() }
    this.#fellows = await store.beat(own, LEASE_MS)
    this.#leaseUntil = { clock: begun + OWN_LEASE_MS, wallClock: wallBegun + OWN_LEASE_MS }
    this.#readTime(wallBegun)
  }

  /** Its own row was seen at the database's now, which was between the question and the answer: less of a difference says nothing. */
  #readTime(begunAt: number): void {
    const seenAt = this.find(this.id)?.seenAt
    if (seenAt === undefined) return
    const uncertainMs = this.#wallClock() - begunAt
    const offsetMs = Date.parse(seenAt) - (begunAt + uncertainMs / 2)
    if (Math.abs(offsetMs - this.#offsetMs) > uncertainMs / 2 + 1) this.#offsetMs = Math.round(offsetMs)
  }
}

function isStranger({ wire }: SeenHub): boolean {
  return wire !== CLUSTER_WIRE
}
