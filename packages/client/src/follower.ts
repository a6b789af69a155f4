import type { Envelope } from "@signalbox/protocol"
import type { Ask, HubEvent, Session, Subscribed } from "@signalbox/protocol/hub-api"
import { ItemQueue } from "@signalbox/protocol/item-queue"
import { abortedError, HubClientError } from "./errors.ts"

/** What following a session yields. */
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
