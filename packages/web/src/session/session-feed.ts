import { type Ask, type EventQuery, HubClientError, type HubEvent, type HubSession } from "@signalbox/client"
import { type Row, Transcript } from "@signalbox/protocol/transcript"
import { createValueStore, type ValueStore } from "../app/value-store.ts"
import {
  type EventWindow,
  emptyWindow,
  fromSeq,
  isAtHead,
  isAtTail,
  joins,
  toSeq,
  trimmed,
  withLive,
  withPage,
} from "./event-window.ts"

export interface FeedView {
  readonly load: "loading" | "ready" | "missing"
  readonly rows: readonly Row[]
  readonly firstSeq: number
  readonly lastSeq: number
  readonly isAtHead: boolean
  readonly isAtTail: boolean
  /** The page that could not be had, and why. */
  readonly trouble: { readonly where: "before" | "after" | "around" | "tail"; readonly why: string } | undefined
  /** What the list must do with the rows that are new: they came in front, or it is another part of the log. */
  readonly change: "none" | "front" | "replaced"
  /** Counts the durable events that came while we watched. */
  readonly arrived: number
}

const PAGE = 200
/** Of a page number that no log reaches: "the last ones". */
const END = Number.MAX_SAFE_INTEGER
/** At most thirty times a second. */
const COMMIT_MS = 33
const HIDDEN_COMMIT_MS = 500

/** One session as the reader sees it: a window into its log, what happens now, and the rows they make. */
export class SessionFeed {
  readonly view: ValueStore<FeedView>
  readonly #session: HubSession
  readonly #lane: string | null
  #window: EventWindow = emptyWindow()
  #transcript = new Transcript()
  #asks = new Map<string, Ask>()
  #arrived = 0
  #change: FeedView["change"] = "none"
  #trouble: FeedView["trouble"]
  #load: FeedView["load"] = "loading"
  #busy: string | undefined
  #commit: ReturnType<typeof setTimeout> | undefined
  #ending = new AbortController()
  /** Whether the reader is at the end: then the front is what may go. */
  isFollowing = true

  constructor(session: HubSession, lane: string | null) {
    this.#session = session
    this.#lane = lane
    this.view = createValueStore<FeedView>(this.#snapshot())
  }

  /** The end of the log, or the part around an event; then what happens now. Runs until `close`. */
  async open(around: number | undefined): Promise<void> {
    await this.#read(around === undefined ? { before: END } : { around }, around === undefined ? "tail" : "around")
    if (this.#load === "loading" && this.#trouble === undefined) this.#load = "ready"
    this.#commitNow()
    if (!this.#ending.signal.aborted) await this.#follow()
  }

  close(): void {
    this.#ending.abort()
    clearTimeout(this.#commit)
  }

  /** Older events, for a reader who scrolls up. Settles when they are there, or when it is told why not. */
  async loadBefore(): Promise<void> {
    if (this.#window.events.length === 0 || isAtHead(this.#window)) return
    await this.#once("before", () => this.#read({ before: fromSeq(this.#window) }, "before"))
  }

  async loadAfter(): Promise<void> {
    if (isAtTail(this.#window)) return
    await this.#once("after", () => this.#read({ after: toSeq(this.#window) }, "after"))
  }

  /** The part of the log around an event, if it is not held already. */
  async jumpTo(seq: number): Promise<void> {
    if (seq >= fromSeq(this.#window) && seq <= toSeq(this.#window)) return
    await this.#once("around", () => this.#read({ around: seq }, "around"))
  }

  async jumpToEnd(): Promise<void> {
    if (isAtTail(this.#window)) return
    await this.#once("tail", () => this.#read({ before: END }, "tail"))
  }

  async retry(): Promise<void> {
    const where = this.#trouble?.where
    this.#trouble = undefined
    if (where === "before") await this.loadBefore()
    else if (where === "after") await this.loadAfter()
    else await this.#once("tail", () => this.#read({ before: END }, "tail"))
    if (this.#load === "loading" && this.#trouble === undefined) this.#load = "ready"
    this.#commitNow()
  }

  takeAsk(ask: Ask): void {
    if (this.#asks.get(ask.id) === ask) return
    this.#asks.set(ask.id, ask)
    this.#transcript.ask(ask)
    this.#commitSoon()
  }

  /** The event itself, if it is held. */
  eventAt(seq: number): HubEvent | undefined {
    return this.#window.events.find((event) => event.seq === seq)
  }

  /** What the agent last said of itself at the beginning of a turn, if that is held. */
  lastInit(): HubEvent["message"] | undefined {
    return this.#window.events.findLast(({ message }) => message.type === "system" && message["subtype"] === "init")
      ?.message
  }

  laneRows(lane: string | null): readonly Row[] {
    return this.#transcript.rows(lane)
  }

  /** One page at a time: a second wish for the same one is the first. */
  async #once(name: string, run: () => Promise<void>): Promise<void> {
    if (this.#busy !== undefined) return
    this.#busy = name
    try {
      await run()
    } finally {
      this.#busy = undefined
    }
  }

  async #read(query: EventQuery, where: NonNullable<FeedView["trouble"]>["where"]): Promise<void> {
    try {
      const page = await this.#session.events({ ...query, limit: PAGE })
      if (this.#ending.signal.aborted) return
      this.#trouble = undefined
      this.#takePage(page, where)
    } catch (error) {
      if (this.#ending.signal.aborted) return
      if (error instanceof HubClientError && error.status === 404) this.#load = "missing"
      else this.#trouble = { where, why: error instanceof Error ? error.message : String(error) }
    }
    this.#commitNow()
  }

  #takePage(page: { events: readonly HubEvent[]; firstSeq: number; lastSeq: number }, where: string): void {
    const isJoined = joins(this.#window, page)
    this.#window = withPage(this.#window, page)
    if (!isJoined) {
      this.#change = "replaced"
      return this.#foldAnew()
    }
    this.#transcript.fold(page.events)
    if (where === "before") this.#change = "front"
    this.#trim(where === "before" ? "head" : "tail")
  }

  #trim(keep: "head" | "tail"): void {
    const next = trimmed(this.#window, keep)
    if (next === undefined) return
    this.#window = next
    if (keep === "tail") this.#change = "front"
    this.#foldAnew()
  }

  #foldAnew(): void {
    this.#transcript = new Transcript({ firstSeq: this.#window.firstSeq })
    this.#transcript.fold(this.#window.events)
    for (const ask of this.#asks.values()) this.#transcript.ask(ask)
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ending
    try {
      // From the end of the log, wherever the window is: what lies between is read when the reader goes there.
      for await (const item of this.#session.follow({ after: this.#window.lastSeq, signal })) {
        switch (item.type) {
          case "event":
            this.#takeEvent(item)
            break
          case "delta":
            if (isAtTail(this.#window)) this.#transcript.delta(item.message)
            break
          case "ask":
            this.takeAsk(item.ask)
            break
          case "subscribed":
            this.#transcript.forgetLive()
            if (item.verdict === "gap") await this.#read({ before: END }, "tail")
            break
          case "changed":
          case "disconnected":
            break
        }
        this.#commitSoon()
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof HubClientError && error.status === 404) this.#load = "missing"
      this.#commitNow()
    }
  }

  #takeEvent({ seq, at, from, by, message }: HubEvent): void {
    const event: HubEvent = { seq, at, from, ...(by === undefined ? {} : { by }), message }
    const { window, isHeld } = withLive(this.#window, event)
    this.#window = window
    this.#arrived++
    if (!isHeld) return
    this.#transcript.fold([event])
    if (this.isFollowing) this.#trim("tail")
  }

  #commitSoon(): void {
    const wait = document.visibilityState === "visible" ? COMMIT_MS : HIDDEN_COMMIT_MS
    this.#commit ??= setTimeout(() => this.#commitNow(), wait)
  }

  #commitNow(): void {
    clearTimeout(this.#commit)
    this.#commit = undefined
    if (this.#ending.signal.aborted) return
    this.view.set(this.#snapshot())
    this.#change = "none"
  }

  #snapshot(): FeedView {
    const { firstSeq, lastSeq } = this.#window
    return {
      load: this.#load,
      rows: this.#transcript.rows(this.#lane),
      firstSeq,
      lastSeq,
      isAtHead: isAtHead(this.#window),
      isAtTail: isAtTail(this.#window),
      trouble: this.#trouble,
      change: this.#change,
      arrived: this.#arrived,
    }
  }
}
