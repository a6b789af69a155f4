import type { Ask, EventPage, HubEvent } from "@signalbox/client"
import { type Row, type ToolRow, Transcript } from "@signalbox/transcript"

/** More than this is never held: browsers cap the height of a list, and memory is not free. */
const MAX_HELD = 4000
/** Dropped in large steps, so that it is seldom. */
const KEPT = 3000

type LogPage = Pick<EventPage, "events" | "firstSeq" | "lastSeq">

/** The effect of a page on what is held: it came in front of it, behind it, or took its place. */
export type PageEffect = "front" | "behind" | "replaced"

/** The part of a session's log that is held, a run of events without a gap, and the rows it makes; of one sub-agent's lane, or of all. */
export class HeldLog {
  readonly #lane: string | null
  readonly #kept = new PageCache()
  readonly #asks = new Map<string, Ask>()
  /** Grows in place while events come in: a copy for each would take longer than folding it. */
  #events: HubEvent[] = []
  /** Bounds of the log, as far as they are known. */
  #firstSeq = 1
  #lastSeq = 0
  #transcript = new Transcript()

  constructor(lane: string | null) {
    this.#lane = lane
  }

  get events(): readonly HubEvent[] {
    return this.#events
  }

  get bounds(): { firstSeq: number; lastSeq: number; fromSeq: number; toSeq: number } {
    const [firstSeq, lastSeq] = [this.#firstSeq, this.#lastSeq]
    const [fromSeq, toSeq] = [this.#events[0]?.seq ?? lastSeq + 1, this.#events.at(-1)?.seq ?? lastSeq]
    return { firstSeq, lastSeq, fromSeq, toSeq }
  }

  /** A sub-agent's lane is complete once its call is held. */
  get isAtHead(): boolean {
    return this.bounds.fromSeq <= this.#firstSeq || this.#host()?.hasCall === true
  }

  /** … and once it is over. */
  get isAtTail(): boolean {
    const host = this.#host()
    const isOver = host?.result !== undefined && (host.task === undefined || host.task.status !== "running")
    return this.isLive || isOver
  }

  /** Events that happen now follow what is held. */
  get isLive(): boolean {
    return this.bounds.toSeq >= this.#lastSeq
  }

  get isCompacting(): boolean {
    return this.#transcript.isCompacting
  }

  rows(lane: string | null = this.#lane): readonly Row[] {
    return this.#transcript.rows(lane)
  }

  tool(toolUseId: string): ToolRow | undefined {
    return this.#transcript.tool(toolUseId)
  }

  /** False: it is known as it is. */
  takeAsk(ask: Ask): boolean {
    if (this.#asks.get(ask.id) === ask) return false
    this.#asks.set(ask.id, ask)
    this.#transcript.ask(ask)
    return true
  }

  takeDelta(message: HubEvent["message"]): void {
    if (this.isLive) this.#transcript.delta(message)
  }

  interruptLive(): void {
    this.#transcript.interruptLive()
  }

  /** A page that joins what is held is added to it; any other takes its place. */
  takePage({ events, firstSeq, lastSeq }: LogPage, where: "before" | "elsewhere"): PageEffect {
    const { fromSeq, toSeq } = this.bounds
    const isJoined = this.#joins(events)
    this.#firstSeq = firstSeq
    this.#lastSeq = Math.max(lastSeq, this.#lastSeq)
    if (!isJoined) {
      this.#events = [...events]
      this.#foldAnew()
      return "replaced"
    }
    const [before, after] = [events.filter(({ seq }) => seq < fromSeq), events.filter(({ seq }) => seq > toSeq)]
    this.#events = [...before, ...this.#events, ...after]
    this.#transcript.fold(events)
    const hasLostFront = this.#trim(where === "before" ? "head" : "tail")
    return where === "before" || hasLostFront ? "front" : "behind"
  }

  /** A page next to what is held that was here before. Undefined: it was not. */
  takeKept(where: "before" | "after"): PageEffect | undefined {
    const { fromSeq, toSeq, ...bounds } = this.bounds
    const events = where === "before" ? this.#kept.takeBefore(fromSeq) : this.#kept.takeAfter(toSeq)
    if (events === undefined) return undefined
    return this.takePage({ events, ...bounds }, where === "before" ? "before" : "elsewhere")
  }

  /**
   * An event that just happened: held when it follows what is held, otherwise only its number is known. `readerSeq`: what is
   * far from there goes when it becomes too much.
   */
  takeEvent({ seq, at, from, by, message }: HubEvent, readerSeq: number): PageEffect {
    const event: HubEvent = { seq, at, from, ...(by === undefined ? {} : { by }), message }
    const { fromSeq, toSeq } = this.bounds
    this.#lastSeq = Math.max(this.#lastSeq, seq)
    if (seq !== toSeq + 1) return "behind"
    this.#events.push(event)
    this.#transcript.fold([event])
    const isNearHead = readerSeq - fromSeq < seq - readerSeq
    return this.#trim(isNearHead ? "head" : "tail") ? "front" : "behind"
  }

  /** The log goes as far as that. One that is shorter than what was shown is another log: then nothing is held. */
  setEnd(lastSeq: number): void {
    const isOther = this.bounds.toSeq > lastSeq
    this.#lastSeq = isOther ? 0 : lastSeq
    if (!isOther) return
    this.#events = []
    this.#firstSeq = 1
    this.#kept.clear()
    this.#foldAnew()
  }

  /** Whether a page touches or overlaps what is held. */
  #joins(page: readonly HubEvent[]): boolean {
    const [first, last] = [page[0]?.seq, page.at(-1)?.seq]
    if (first === undefined || last === undefined) return true
    const { fromSeq, toSeq } = this.bounds
    return this.#events.length > 0 && last + 1 >= fromSeq && first <= toSeq + 1
  }

  #host(): ToolRow | undefined {
    return this.#lane === null ? undefined : this.#transcript.tool(this.#lane)
  }

  /** The end that the reader is far from goes. Tells whether something in front is gone. */
  #trim(keep: "head" | "tail"): boolean {
    const { length } = this.#events
    if (length <= MAX_HELD) return false
    const cut = keep === "head" ? KEPT : length - KEPT
    const [before, after] = [this.#events.slice(0, cut), this.#events.slice(cut)]
    this.#events = keep === "head" ? before : after
    this.#kept.keep(keep === "head" ? after : before)
    this.#foldAnew()
    return keep === "tail"
  }

  #foldAnew(): void {
    this.#transcript = new Transcript({ firstSeq: this.#firstSeq })
    this.#transcript.fold(this.#events)
    for (const ask of this.#asks.values()) this.#transcript.ask(ask)
  }
}

interface KeptPage {
  readonly events: readonly HubEvent[]
  readonly chars: number
}

const PAGE = 200
const MAX_CHARS = 24_000_000

/** Pages of the log that were let go of, the last few: a log does not change, so coming back needs no asking. */
export class PageCache {
  /** Pages by their first event; the longest unused comes first. */
  readonly #pages = new Map<number, KeptPage>()
  readonly #maxChars: number
  #chars = 0

  constructor(maxChars = MAX_CHARS) {
    this.#maxChars = maxChars
  }

  /** A run of events without a gap. */
  keep(events: readonly HubEvent[]): void {
    for (let start = 0; start < events.length; start += PAGE) {
      const page = events.slice(start, start + PAGE)
      const first = page[0]?.seq ?? 0
      this.#drop(first)
      const chars = page.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0)
      this.#pages.set(first, { events: page, chars })
      this.#chars += chars
    }
    for (const first of this.#pages.keys()) {
      if (this.#chars <= this.#maxChars) break
      this.#drop(first)
    }
  }

  /** The page that ends right before an event. It is handed over: whoever lets go of it keeps it again. */
  takeBefore(seq: number): readonly HubEvent[] | undefined {
    for (const { events } of this.#pages.values()) if (events.at(-1)?.seq === seq - 1) return this.#take(events)
    return undefined
  }

  /** The page that begins right behind an event. */
  takeAfter(seq: number): readonly HubEvent[] | undefined {
    const page = this.#pages.get(seq + 1)
    return page === undefined ? undefined : this.#take(page.events)
  }

  /** Another log, or another part of it that was changed. */
  clear(): void {
    this.#pages.clear()
    this.#chars = 0
  }

  #take(events: readonly HubEvent[]): readonly HubEvent[] {
    this.#drop(events[0]?.seq ?? 0)
    return events
  }

  #drop(first: number): void {
    this.#chars -= this.#pages.get(first)?.chars ?? 0
    this.#pages.delete(first)
  }
}
