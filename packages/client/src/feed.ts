import type { HubEvent, StreamOperation, Subscribed } from "@signalbox/protocol/hub-api"
import { HubClientError } from "./errors.ts"
import type { Follower, FollowItem } from "./follower.ts"

/** One subscription on the socket, for all the followers of one session. `*` is all sessions, without their events. */
export class Feed {
  readonly key: string
  readonly followers = new Set<Follower>()
  readonly #send: (operation: StreamOperation) => void
  /** Subscriptions sent on this connection and not yet confirmed, with where each begins. */
  #unconfirmed: (number | undefined)[] = []
  #isSubscribed = false
  #beatsWaited = 0

  constructor(key: string, send: (operation: StreamOperation) => void) {
    this.key = key
    this.#send = send
  }

  /** Whether the hub owes us a confirmation. */
  get isAwaiting(): boolean {
    return this.#unconfirmed.length > 0
  }

  /** True once, when the hub has owed us a confirmation for that many beats. */
  beat(patience: number): boolean {
    if (!this.isAwaiting) return false
    this.#beatsWaited++
    return this.#beatsWaited === patience
  }

  /** From where the follower furthest behind is; the others leave out what they have. */
  subscribe(): void {
    if (this.#isSubscribed) this.#send({ op: "unsubscribe", session: this.key })
    const cursors = [...this.followers].flatMap(({ cursor }) => cursor ?? [])
    const after = this.key === "*" || cursors.length === 0 ? undefined : Math.min(...cursors)
    this.#isSubscribed = true
    this.#unconfirmed.push(after)
    this.#beatsWaited = 0
    this.#send({ op: "subscribe", session: this.key, ...(after === undefined ? {} : { after }) })
  }

  unsubscribe(): void {
    if (this.#isSubscribed) this.#send({ op: "unsubscribe", session: this.key })
    this.#isSubscribed = false
  }

  /** The connection is gone, and with it what was agreed on it. */
  reset(): void {
    this.#isSubscribed = false
    this.#unconfirmed = []
    for (const follower of this.followers) follower.forgetMisses()
  }

  confirmed(subscribed: Subscribed): void {
    const after = this.#unconfirmed.shift()
    // An earlier subscription's: the newest one's is on its way, and only that tells where everybody is.
    if (this.isAwaiting) return
    for (const follower of this.followers) follower.takeSubscribed(subscribed, after)
  }

  event(event: HubEvent, chars: number): void {
    const missing = [...this.followers].filter((follower) => follower.takeEvent(event, chars) === "missing")
    // While a confirmation is due, what comes belongs to the subscription before it.
    if (missing.length === 0 || this.isAwaiting) return
    const stays = missing.filter((follower) => follower.countMiss())
    if (stays.length > 0) this.subscribe()
  }

  delta(item: FollowItem, chars: number): void {
    if (!this.isAwaiting) this.#toAll(item, chars)
  }

  note(item: FollowItem, chars: number): void {
    this.#toAll(item, chars)
  }

  /** The hub refused the subscription: no confirmation of it will come. */
  refused(error: HubClientError): void {
    this.#unconfirmed.shift()
    this.end(error)
  }

  /** Undefined: an orderly end. */
  end(error?: HubClientError): void {
    for (const follower of this.followers) follower.end(error)
  }

  #toAll(item: FollowItem, chars: number): void {
    for (const follower of this.followers) follower.take(item, chars)
  }
}
