import type { Envelope } from "@signalbox/protocol"
import type { Ask, HubEvent, Session, StreamOperation, Subscribed } from "@signalbox/protocol/hub-api"
import { ItemQueue } from "@signalbox/protocol/item-queue"
import { abortedError, HubClientError } from "./errors.ts"

/** The items that following a session yields. */
export type FollowItem =
  /**
   * The stream begins, or begins again after the connection was lost or the reader was slow. The session and its open asks
   * come next, and the message in progress from its beginning: deltas and open asks shown before are void. Events are not: none
   * comes twice. With `gap` some are no longer in the hub's log.
   */
  | ({ readonly type: "subscribed" } & Subscribed)
  | ({ readonly type: "event" } & HubEvent)
  | { readonly type: "delta"; readonly message: Envelope }
  | { readonly type: "ask"; readonly ask: Ask }
  | { readonly type: "changed"; readonly session: Session }
  /** For those who watch all sessions: the last event of one that this person has read, perhaps elsewhere. */
  | { readonly type: "read"; readonly sessionId: string; readonly seq: number }
  /** For those who watch all sessions: one was deleted for good. */
  | { readonly type: "purged"; readonly sessionId: string }
  /** The connection is lost and will come back by itself. */
  | { readonly type: "disconnected"; readonly reason: string }

export interface FollowOptions {
  /** The last event already seen; 0 for all there are. Without it: from now on. */
  readonly after?: number
  readonly signal?: AbortSignal
}

export interface FollowerOptions extends FollowOptions {
  readonly maxWaitingChars: number
  /** It fell behind and has caught up: it needs what it left out. */
  readonly onCaughtUp: (follower: Follower) => void
  readonly onEnded: (follower: Follower) => void
}

const MAX_MISSES = 3

/** One reader of one session: its cursor, and what it has not read yet. */
export class Follower {
  readonly items: ItemQueue<FollowItem>
  readonly #options: FollowerOptions
  #cursor: number | undefined
  /** After a gap the next event is taken whatever its number. */
  #mayJump = false
  /** Behind: nothing is taken until the reader has read what waits. */
  #isPaused = false
  #misses = 0

  constructor(options: FollowerOptions) {
    const { after, signal } = options
    this.#options = options
    this.#cursor = after
    const onAbort = () => this.items.abandon(abortedError(signal))
    this.items = new ItemQueue({
      onDrained: () => this.#onDrained(),
      onEnded: () => {
        signal?.removeEventListener("abort", onAbort)
        options.onEnded(this)
      },
    })
    signal?.addEventListener("abort", onAbort)
  }

  /** The last event it took; undefined until it is known where "now" is. */
  get cursor(): number | undefined {
    return this.#cursor
  }

  takeSubscribed(hub: Subscribed, requestedAfter: number | undefined): void {
    const { firstSeq, lastSeq } = hub
    const cursor = this.#cursor ?? lastSeq
    // The hub's verdict is on the earliest of all cursors; this one may be later.
    const isGap = cursor + 1 < firstSeq || cursor > lastSeq || (hub.verdict === "gap" && cursor === requestedAfter)
    this.#cursor = isGap ? Math.min(Math.max(cursor, firstSeq - 1), lastSeq) : cursor
    this.#mayJump = isGap
    this.#push({ type: "subscribed", verdict: isGap ? "gap" : "ok", firstSeq, lastSeq }, 0)
  }

  /** "missing": events before this one never came, and it was not taken. */
  takeEvent(event: HubEvent, chars: number): "taken" | "ignored" | "missing" {
    const { seq } = event
    if (this.#cursor === undefined || seq <= this.#cursor || this.#isPaused) return "ignored"
    if (seq > this.#cursor + 1 && !this.#mayJump) return "missing"
    if (!this.#push({ type: "event", ...event }, chars)) return "ignored"
    this.#cursor = seq
    this.#mayJump = false
    this.#misses = 0
    return "taken"
  }

  take(item: FollowItem, chars: number): void {
    if (!this.#isPaused) this.#push(item, chars)
  }

  /** False when it is of no use to ask the hub again. */
  countMiss(): boolean {
    this.#misses++
    if (this.#misses <= MAX_MISSES) return true
    this.end(new HubClientError("client/bad-reply", `the hub leaves out what follows event ${this.#cursor ?? 0}`))
    return false
  }

  /** On another connection it may go better. */
  forgetMisses(): void {
    this.#misses = 0
  }

  end(error?: Error): void {
    this.items.end(error)
  }

  #onDrained(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#options.onCaughtUp(this)
  }

  #push(item: FollowItem, chars: number): boolean {
    const waiting = this.items.waitingChars
    if (waiting > 0 && waiting + chars > this.#options.maxWaitingChars) {
      this.#isPaused = true
      return false
    }
    // Nothing is free, or a million small ones would be.
    this.items.push(item, chars + ITEM_CHARS)
    return true
  }
}

const ITEM_CHARS = 64

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
