import { HubError } from "../errors.ts"
import type { Store } from "../store/open-store.ts"
import { ClusterSecret } from "./cluster-secret.ts"
import type { HubCounts, Hubs } from "./hubs.ts"
import { Membership } from "./membership.ts"

export interface ClusterOptions {
  readonly store: Store
  readonly url: string
  readonly version: string
  readonly counts: () => HubCounts
  readonly onLapsed: (error: unknown) => void
  readonly onBack: () => void
  readonly trouble: (what: string, error: unknown) => void
}

/** A hub among others on one database. */
export class Cluster implements Hubs {
  readonly #membership: Membership
  readonly #secret: ClusterSecret
  readonly #close: () => Promise<void>

  private constructor(membership: Membership, secret: ClusterSecret, close: () => Promise<void>) {
    this.#membership = membership
    this.#secret = secret
    this.#close = close
  }

  /** Somebody must close it. */
  static async open({ store, ...options }: ClusterOptions): Promise<Cluster> {
    const tables = await store.openCluster?.()
    if (tables === undefined) throw new Error("this store cannot be shared")
    const secret = new ClusterSecret({ directory: store.directory })
    try {
      await secret.load()
      const membership = await Membership.join({ ...options, store: tables, onBeat: () => secret.load() })
      return new Cluster(membership, secret, async () => {
        await membership.leave()
        await tables.close()
      })
    } catch (error) {
      await tables.close()
      throw error
    }
  }

  /** Why nobody is served now: other hubs may have taken this one's place. */
  get refusal(): HubError | undefined {
    if (this.#membership.hasLease) return undefined
    return new HubError("store/failed", "This hub has lost its database: try again in a moment, or use another hub.", {
      details: { retryAfterSeconds: 2 },
    })
  }

  list() {
    return this.#membership.list()
  }

  rotateSecret(by: string) {
    return this.#secret.rotate(by)
  }

  close(): Promise<void> {
    return this.#close()
  }
}
