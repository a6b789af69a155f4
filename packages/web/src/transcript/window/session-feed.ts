import { type Ask, type EventQuery, type FollowItem, HubClientError, type HubEvent } from "@signalbox/client"
import type { PromptRow, Row, ToolRow } from "@signalbox/transcript"
import { createValueStore, type ValueStore } from "../../app/value-store.ts"
import type { LogSource } from "./forked-log.ts"
import { HeldLog, type PageEffect } from "./held-log.ts"
import { partWaiting, type TurnFacts } from "./waiting-prompts.ts"

export interface FeedView {
  readonly load: "loading" | "ready" | "missing"
  readonly rows: readonly Row[]
  /** Messages that the agent has not taken up. */
  readonly waiting: readonly PromptRow[]
  /** Bounds of the log. */
  readonly firstSeq: number
  readonly lastSeq: number
  /** Bounds of the events that are held. */
  readonly fromSeq: number
  readonly toSeq: number
  readonly isAtHead: boolean
  readonly isAtTail: boolean
  /** The agent is making its history shorter. */
  readonly isCompacting: boolean
  /** The page that could not be had, and why. */
  readonly trouble: { readonly where: "before" | "after" | "around" | "tail"; readonly why: string } | undefined
  /** Tells the list about rows that are new: they came in front, or it is another part of the log. */
  readonly change: "none" | "front" | "replaced"
  /** Counts the durable events that came while we watched. */
  readonly arrived: number
}

const PAGE = 200
/** A number that no log reaches: asks for the last page. */
const END = Number.MAX_SAFE_INTEGER
/** Events that are held to fill a view with few rows. */
export const MAX_FILL = 2000
/** Pages that are looked through for a sub-agent at a time. */
const LOOK_PAGES = MAX_FILL / PAGE
/** At most thirty times a second. */
const COMMIT_MS = 33
const HIDDEN_COMMIT_MS = 500

/** One session as the reader sees it: a window into its log, what happens now, and the rows they make. */
export class SessionFeed {
  readonly view: ValueStore<FeedView>
  readonly #session: LogSource
  readonly #onGap: () => void
  readonly #log: HeldLog
  readonly #lane: string | null
  #facts: TurnFacts | undefined
  readonly #turns = new PageTurns()
  #arrived = 0
  #change: FeedView["change"] = "none"
  #trouble: FeedView["trouble"]
  #load: FeedView["load"] = "loading"
  /** The page that could not be had, to be asked for again. */
  #failed: EventQuery | undefined
  #commit: ReturnType<typeof setTimeout> | undefined
  #ending = new AbortController()
  /** Where the reader is. */
  isFollowing = true
  readerSeq = 0

  /** `onGap` hears when the stream came back with something missing. */
  constructor(session: LogSource, lane: string | null, onGap: () => void = () => undefined) {
    this.#session = session
    this.#onGap = onGap
    this.#log = new HeldLog(lane)
    this.#lane = lane
    this.view = createValueStore<FeedView>(this.#snapshot())
  }

  /** The end of the log, or the part around an event; then what happens now. Runs until `close`. */
  async open(around: number | undefined): Promise<void> {
    if (around !== undefined) await this.#read({ around }, "around")
    // An address beyond the end leads to the end.
    if (this.#log.events.length === 0 && this.#trouble === undefined) await this.#read({ before: END }, "tail")
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
    if (this.#log.events.length === 0 || this.#log.isAtHead) return
    await this.#turns.more(async () => {
      if (!this.#takeKept("before")) await this.#read({ before: this.#log.bounds.fromSeq }, "before")
    })
  }

  async loadAfter(): Promise<void> {
    if (this.#log.isAtTail) return
    await this.#turns.more(async () => {
      if (!this.#takeKept("after")) await this.#read({ after: this.#log.bounds.toSeq }, "after")
    })
  }

  /** For a view that is not full yet. Bounded: a thousand calls may be a single line. */
  async fill(): Promise<void> {
    // The page that did not fill it may only just have been drawn.
    await this.#turns.settled()
    if (this.#log.events.length > MAX_FILL || this.#trouble !== undefined) return
    if (this.#log.isAtHead) await this.loadAfter()
    else await this.loadBefore()
  }

  /** For a sub-agent of which nothing is held: older events, so many at a time. */
  async lookFurther(): Promise<void> {
    for (let page = 0; page < LOOK_PAGES; page++) {
      // A wish for more while a page is on its way is that page, and would be none of ours.
      await this.#turns.settled()
      if (this.#log.rows().length > 0 || this.#log.isAtHead || this.#trouble !== undefined) return
      await this.loadBefore()
    }
  }

  /** The part of the log around an event, if it is not held already. False: the reader went elsewhere meanwhile. */
  jumpTo(seq: number): Promise<boolean> {
    return this.#turns.jump(async () => {
      const { fromSeq, toSeq } = this.#log.bounds
      if (seq < fromSeq || seq > toSeq) await this.#read({ around: seq }, "around")
    })
  }

  jumpToEnd(): Promise<boolean> {
    return this.#turns.jump(async () => {
      if (!this.#log.isAtTail) await this.#read({ before: END }, "tail")
    })
  }

  async retry(): Promise<void> {
    const [query, where] = [this.#failed ?? { before: END }, this.#trouble?.where ?? "tail"]
    this.#trouble = undefined
    await this.#turns.jump(() => this.#read(query, where))
    if (this.#load === "loading" && this.#trouble === undefined) this.#load = "ready"
    this.#commitNow()
  }

  takeAsk(ask: Ask): void {
    if (this.#log.takeAsk(ask)) this.#commitSoon()
  }

  /** Takes what the session's record says of its turn. */
  takeSession({ state, turnStartedAt }: TurnFacts): void {
    if (this.#facts?.state === state && this.#facts.turnStartedAt === turnStartedAt) return
    this.#facts = turnStartedAt === undefined ? { state } : { state, turnStartedAt }
    this.#commitSoon()
  }

  /** The event itself, if it is held. */
  eventAt(seq: number): HubEvent | undefined {
    return this.#log.events.find((event) => event.seq === seq)
  }

  /** The agent's last word on itself at the beginning of a turn, if that is held. */
  lastInit(): HubEvent["message"] | undefined {
    return this.#log.events.findLast(({ message }) => message.type === "system" && message["subtype"] === "init")
      ?.message
  }

  /** Its last word on the limits of its account, if that is held. */
  lastLimit(): HubEvent | undefined {
    return this.#log.events.findLast(({ message }) => message.type === "rate_limit_event")
  }

  laneRows(lane: string | null): readonly Row[] {
    return this.#log.rows(lane)
  }

  /** One use of a tool, wherever it is. */
  tool(toolUseId: string): ToolRow | undefined {
    return this.#log.tool(toolUseId)
  }

  #takeKept(where: "before" | "after"): boolean {
    const effect = this.#log.takeKept(where)
    if (effect === undefined) return false
    this.#changed(effect)
    this.#commitNow()
    return true
  }

  async #read(query: EventQuery, where: NonNullable<FeedView["trouble"]>["where"]): Promise<void> {
    try {
      const page = await this.#session.events({ ...query, limit: PAGE })
      if (this.#ending.signal.aborted) return
      this.#trouble = undefined
      this.#failed = undefined
      this.#changed(this.#log.takePage(page, where === "before" ? "before" : "elsewhere"))
    } catch (error) {
      if (this.#ending.signal.aborted) return
      if (error instanceof HubClientError && error.status === 404) this.#load = "missing"
      else {
        this.#trouble = { where, why: error instanceof Error ? error.message : String(error) }
        this.#failed = query
      }
    }
    this.#commitNow()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ending
    // From the end of the log, wherever the window is: what lies between is read when the reader goes there. Where it ends is not
    // known when nothing could be read.
    const after = this.#trouble === undefined ? { after: this.#log.bounds.lastSeq } : {}
    try {
      for await (const item of this.#session.follow({ ...after, signal })) {
        await this.#take(item)
        this.#commitSoon()
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof HubClientError && error.status === 404) this.#load = "missing"
      this.#commitNow()
    }
  }

  async #take(item: FollowItem): Promise<void> {
    switch (item.type) {
      case "event":
        this.#arrived++
        return this.#changed(this.#log.takeEvent(item, this.isFollowing ? END : this.readerSeq))
      case "delta":
        return this.#log.takeDelta(item.message)
      case "ask":
        return this.takeAsk(item.ask)
      case "disconnected":
        return this.#log.interruptLive()
      case "subscribed":
        this.#log.interruptLive()
        return item.verdict === "gap" ? this.#closeGap(item.lastSeq) : undefined
      case "changed":
      case "read":
      case "purged":
        return
    }
  }

  /** Events that the stream left out are read from the log. A reader elsewhere stays there. */
  async #closeGap(lastSeq: number): Promise<void> {
    const wasLive = this.#log.isLive
    this.#onGap()
    this.#log.setEnd(lastSeq)
    if (this.isFollowing || this.#log.events.length === 0)
      await this.#turns.jump(() => this.#read({ before: END }, "tail"))
    else if (wasLive) await this.#turns.jump(() => this.#read({ after: this.#log.bounds.toSeq }, "after"))
  }

  #changed(effect: PageEffect): void {
    // Several changes before the list looks count as the weightiest of them.
    if (effect === "replaced" || this.#change === "none") this.#change = effect === "behind" ? "none" : effect
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
    const { rows, waiting } = partWaiting(this.#log.rows(null), this.#facts)
    return {
      load: this.#load,
      rows: this.#lane === null ? rows : this.#log.rows(),
      waiting,
      ...this.#log.bounds,
      isAtHead: this.#log.isAtHead,
      isAtTail: this.#log.isAtTail,
      isCompacting: this.#log.isCompacting,
      trouble: this.#trouble,
      change: this.#change,
      arrived: this.#arrived,
    }
  }
}

/** Pages of a log are read one at a time. */
export class PageTurns {
  #running: Promise<void> | undefined
  #jumps = 0

  /** A wish for more, while a page is on its way, is that page. */
  async more(read: () => Promise<void>): Promise<void> {
    if (this.#running === undefined) await this.#start(read)
  }

  /** Everything on its way has arrived. */
  async settled(): Promise<void> {
    await this.#running
  }

  /** A jump waits for what is on its way; of several that wait, the last is made. False: it was not this one. */
  async jump(read: () => Promise<void>): Promise<boolean> {
    const own = ++this.#jumps
    while (this.#running !== undefined) await this.#running
    if (own === this.#jumps) await this.#start(read)
    return own === this.#jumps
  }

  #start(read: () => Promise<void>): Promise<void> {
    this.#running = read().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }
}
