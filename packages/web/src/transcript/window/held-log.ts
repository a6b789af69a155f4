import type { Ask, HubEvent } from "@signalbox/client"
import { type Row, type ToolRow, Transcript } from "@signalbox/transcript"
import {
  type EventWindow,
  emptyWindow,
  fromSeq,
  isAtHead,
  isAtTail,
  joins,
  PageCache,
  toSeq,
  trimmed,
  withLive,
  withPage,
} from "./event-window.ts"

interface LogPage {
  readonly events: readonly HubEvent[]
  readonly firstSeq: number
  readonly lastSeq: number
}

/** What a page did to what is held: it came in front of it, behind it, or took its place. */
export type PageEffect = "front" | "behind" | "replaced"

/** The part of a session's log that is held, and the rows it makes; of one sub-agent's lane, or of all. */
export class HeldLog {
  readonly #lane: string | null
  readonly #kept = new PageCache()
  readonly #asks = new Map<string, Ask>()
  #window: EventWindow = emptyWindow()
  #transcript = new Transcript()

  constructor(lane: string | null) {
    this.#lane = lane
  }

  get events(): readonly HubEvent[] {
    return this.#window.events
  }

  get bounds(): { firstSeq: number; lastSeq: number; fromSeq: number; toSeq: number } {
    const { firstSeq, lastSeq } = this.#window
    return { firstSeq, lastSeq, fromSeq: fromSeq(this.#window), toSeq: toSeq(this.#window) }
  }

  /** A sub-agent's lane is complete once its call is held. */
  get isAtHead(): boolean {
    return isAtHead(this.#window) || this.#host()?.hasCall === true
  }

  /** … and once it is over. */
  get isAtTail(): boolean {
    const host = this.#host()
    const isOver = host?.result !== undefined && (host.task === undefined || host.task.status !== "running")
    return isAtTail(this.#window) || isOver
  }

  /** What happens now follows what is held. */
  get isLive(): boolean {
    return isAtTail(this.#window)
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

  forgetLive(): void {
    this.#transcript.forgetLive()
  }

  takePage(page: LogPage, where: "before" | "elsewhere"): PageEffect {
    const isJoined = joins(this.#window, page)
    this.#window = withPage(this.#window, page)
    if (!isJoined) {
      this.#foldAnew()
      return "replaced"
    }
    this.#transcript.fold(page.events)
    const hasLostFront = this.#trim(where === "before" ? "head" : "tail")
    return where === "before" || hasLostFront ? "front" : "behind"
  }

  /** A page next to what is held that was here before. Undefined: it was not. */
  takeKept(where: "before" | "after"): PageEffect | undefined {
    const { firstSeq, lastSeq } = this.#window
    const events =
      where === "before" ? this.#kept.takeBefore(fromSeq(this.#window)) : this.#kept.takeAfter(toSeq(this.#window))
    if (events === undefined) return undefined
    return this.takePage({ events, firstSeq, lastSeq }, where === "before" ? "before" : "elsewhere")
  }

  /** An event that just happened. `readerSeq`: what is far from there goes when it becomes too much. */
  takeEvent({ seq, at, from, by, message }: HubEvent, readerSeq: number): PageEffect {
    const event: HubEvent = { seq, at, from, ...(by === undefined ? {} : { by }), message }
    const { window, isHeld } = withLive(this.#window, event)
    this.#window = window
    if (!isHeld) return "behind"
    this.#transcript.fold([event])
    const isNearHead = readerSeq - fromSeq(window) < toSeq(window) - readerSeq
    return this.#trim(isNearHead ? "head" : "tail") ? "front" : "behind"
  }

  /** The log goes as far as that. One that is shorter than what was shown is another log: then nothing is held. */
  setEnd(lastSeq: number): void {
    if (toSeq(this.#window) <= lastSeq) {
      this.#window = { ...this.#window, lastSeq }
      return
    }
    this.#window = emptyWindow()
    this.#kept.clear()
    this.#foldAnew()
  }

  #host(): ToolRow | undefined {
    return this.#lane === null ? undefined : this.#transcript.tool(this.#lane)
  }

  /** Whether something in front is gone. */
  #trim(keep: "head" | "tail"): boolean {
    const next = trimmed(this.#window, keep)
    if (next === undefined) return false
    this.#window = next.window
    this.#kept.keep(next.dropped)
    this.#foldAnew()
    return keep === "tail"
  }

  #foldAnew(): void {
    this.#transcript = new Transcript({ firstSeq: this.#window.firstSeq })
    this.#transcript.fold(this.#window.events)
    for (const ask of this.#asks.values()) this.#transcript.ask(ask)
  }
}
