import { HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { Store } from "../store/open-store.ts"
import { ClusterDoor, type FellowServices } from "./cluster-door.ts"
import { ClusterSecret } from "./cluster-secret.ts"
import { Fellows } from "./fellows.ts"
import { Forwarding } from "./forwarding.ts"
import type { HubCounts, Hubs } from "./hubs.ts"
import { Membership } from "./membership.ts"
import { ClusterOwnership } from "./ownership.ts"
import { SharedRunners } from "./shared-runners.ts"

export interface ClusterOptions {
  readonly store: Store
  readonly url: string
  readonly version: string
  /** Certificates that hubs trust when they call each other. */
  readonly ca?: string | undefined
  readonly counts: () => HubCounts
  readonly onLapsed: (error: unknown) => void
  readonly onBack: () => void
  readonly trouble: (what: string, error: unknown) => void
}

/** The rest of the hub, as the cluster uses it once it is there. */
export interface ClusterHub extends FellowServices {
  /** A hub is gone: its sessions are anybody's. */
  adopt(): Promise<void>
}

/** A change by one of these must be known to every hub when its reply comes. */
const SPREAD: ReadonlySet<string> = new Set([
  "PUT /api/policy",
  "PUT /api/settings",
  "DELETE /api/tokens/:id",
  "DELETE /api/logins/:id",
  "POST /api/login",
  "POST /api/logout",
  "POST /api/hubs/secret",
])
const SPREAD_MS = 2_000

/** A hub among others on one database. */
export class Cluster {
  readonly ownership: ClusterOwnership
  readonly runners: SharedRunners
  readonly membership: Membership
  readonly secret: ClusterSecret
  readonly fellows: Fellows
  readonly forwarding: Forwarding
  /** As people are told of them. */
  readonly hubs: Hubs
  readonly close: () => Promise<void>
  readonly #options: ClusterOptions
  #hub: ClusterHub | undefined
  #known: ReadonlySet<string>
  /** Sessions of a hub that is gone are still to be taken over. */
  #mustAdopt = false

  private constructor(
    options: ClusterOptions,
    parts: { membership: Membership; secret: ClusterSecret; tables: ClusterTablesOf },
  ) {
    const { membership, secret, tables } = parts
    const { store, trouble } = options
    this.#options = options
    this.membership = membership
    // One that dies while this hub starts is missed with the first look.
    this.#known = new Set(membership.fellows.map(({ id }) => id))
    this.secret = secret
    this.fellows = new Fellows(secret, options.ca)
    this.hubs = { list: () => membership.list(), rotateSecret: (by) => secret.rotate(by) }
    this.ownership = new ClusterOwnership({ store: tables, membership, fellows: this.fellows })
    this.runners = new SharedRunners({ store: tables, membership, fellows: this.fellows, trouble })
    this.forwarding = new Forwarding({
      directory: store.directory,
      ownership: this.ownership,
      membership,
      fellows: this.fellows,
    })
    this.close = async () => {
      await membership.leave()
      await tables.close()
    }
  }

  /** Somebody must close it. */
  static async open(options: ClusterOptions): Promise<Cluster> {
    const tables = await options.store.openCluster?.()
    if (tables === undefined) throw new Error("this store cannot be shared")
    const now = () => cluster?.membership.now() ?? new Date()
    const secret = new ClusterSecret({ directory: options.store.directory, now })
    let cluster: Cluster | undefined
    try {
      await secret.load()
      const onBeat = () => cluster?.refresh() ?? Promise.resolve()
      // Its sessions that nobody took over meanwhile are its own again.
      const onBack = () => {
        if (cluster !== undefined) cluster.#mustAdopt = true
        options.onBack()
      }
      const onLapsed = (error: unknown) => {
        cluster?.fellows.hangUp()
        options.onLapsed(error)
      }
      const joining = { ...options, store: tables, onBeat, onBack, onLapsed }
      const membership = await Membership.join(joining)
      cluster = new Cluster(options, { membership, secret, tables })
      return cluster
    } catch (error) {
      await tables.close()
      throw error
    }
  }

  /** The rest of the hub is there. */
  connect(hub: ClusterHub): void {
    this.#hub = hub
  }

  /** Why nobody is served now: other hubs may have taken this one's place. */
  get refusal(): HubError | undefined {
    if (this.membership.hasLease) return undefined
    const { refusal } = this.membership
    if (refusal !== undefined) return new HubError("store/failed", `This hub serves nobody: ${refusal.message}`)
    return new HubError("store/failed", "This hub has lost its database: try again in a moment, or use another hub.", {
      details: { retryAfterSeconds: 2 },
    })
  }

  /** Every living hub reads anew what hubs share. Gives the addresses of those that did not say so in time. */
  async spread(route: string): Promise<readonly string[]> {
    if (!SPREAD.has(route)) return []
    // One that joined a moment ago may have read it before it was changed.
    await this.membership.refresh()
    const late = await Promise.all(
      this.membership.others.map((fellow) =>
        this.fellows.call(fellow, { method: "POST", path: "/refresh", body: {} }, SPREAD_MS).then(
          () => [],
          () => [fellow.url],
        ),
      ),
    )
    return late.flat()
  }

  /** Answers the calls of fellow hubs. */
  door(serve: (request: Request, caller: Caller) => Promise<Response> | Response): ClusterDoor {
    const hub = () => {
      if (this.#hub === undefined) throw new HubError("hub/stopping", "The hub is starting. Try again in a moment.")
      return this.#hub
    }
    const services: FellowServices = {
      release: (...what) => hub().release(...what),
      requestRunner: (...what) => hub().requestRunner(...what),
      refresh: () => this.refresh(),
      stream: (upgrade) => hub().stream(upgrade),
      client: (upgrade) => hub().client(upgrade),
    }
    return new ClusterDoor({ secret: this.secret, services, serve })
  }

  /** Reads anew the state that hubs share, and looks whether a hub is gone. */
  async refresh(): Promise<void> {
    await this.secret.load()
    await this.#hub?.refresh()
    const alive = new Set(this.membership.fellows.map(({ id }) => id))
    const gone = [...this.#known].filter((id) => !alive.has(id))
    if (gone.length > 0) this.#mustAdopt = true
    for (const id of gone) this.fellows.gone(id)
    this.#known = alive
    if (this.#mustAdopt) void this.#adopt()
  }

  /** Never rejects: it is tried again with the next look. */
  async #adopt(): Promise<void> {
    if (this.#hub === undefined) return
    this.#mustAdopt = false
    try {
      await this.#hub.adopt()
    } catch (error) {
      this.#mustAdopt = true
      this.#options.trouble("Could not take over a stopped hub's sessions. Retrying.", error)
    }
  }
}

type ClusterTablesOf = Awaited<ReturnType<NonNullable<Store["openCluster"]>>>
