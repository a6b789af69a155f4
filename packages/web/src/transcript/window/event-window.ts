import type { HubEvent } from "@signalbox/client"

/**
 * The part of a session's log that is held: a run of events without a gap. Pure; the fold stands on it and is made anew when
 * a far end is dropped.
 */
export interface EventWindow {
  /** Grows in place while events come in: a copy for each would take longer than folding it. */
  readonly events: HubEvent[]
  /** Bounds of the log, as far as they are known. */
  readonly firstSeq: number
  readonly lastSeq: number
}

export function emptyWindow(): EventWindow {
  return { events: [], firstSeq: 1, lastSeq: 0 }
}

/** More than this is never held: browsers cap the height of a list, and memory is not free. */
const MAX_HELD = 4000
/** Dropped in large steps, so that it is seldom. */
const KEPT = 3000

export function fromSeq({ events, lastSeq }: EventWindow): number {
  return events[0]?.seq ?? lastSeq + 1
}

export function toSeq({ events, lastSeq }: EventWindow): number {
  return events.at(-1)?.seq ?? lastSeq
}

/** Nothing is missing between what is held and what happens now. */
export function isAtTail(window: EventWindow): boolean {
  return toSeq(window) >= window.lastSeq
}

export function isAtHead(window: EventWindow): boolean {
  return fromSeq(window) <= window.firstSeq
}

interface Page {
  readonly events: readonly HubEvent[]
  readonly firstSeq: number
  readonly lastSeq: number
}

/** Whether a page touches or overlaps what is held. */
export function joins(window: EventWindow, page: Page): boolean {
  const [first, last] = [page.events[0]?.seq, page.events.at(-1)?.seq]
  if (first === undefined || last === undefined) return true
  return window.events.length > 0 && last + 1 >= fromSeq(window) && first <= toSeq(window) + 1
}

/** A page that joins what is held is added to it; any other takes its place. */
export function withPage(window: EventWindow, page: Page): EventWindow {
  const bounds = { firstSeq: page.firstSeq, lastSeq: Math.max(page.lastSeq, window.lastSeq) }
  if (!joins(window, page)) return { events: [...page.events], ...bounds }
  const [from, to] = [fromSeq(window), toSeq(window)]
  const before = page.events.filter(({ seq }) => seq < from)
  const after = page.events.filter(({ seq }) => seq > to)
  return { events: [...before, ...window.events, ...after], ...bounds }
}

/** An event that just happened. Held when it follows what is held; otherwise only its number is known. */
export function withLive(
  window: EventWindow,
  event: HubEvent,
): { readonly window: EventWindow; readonly isHeld: boolean } {
  const lastSeq = Math.max(window.lastSeq, event.seq)
  if (event.seq !== toSeq(window) + 1) return { window: { ...window, lastSeq }, isHeld: false }
  window.events.push(event)
  return { window: { ...window, lastSeq }, isHeld: true }
}

interface Trimmed {
  readonly window: EventWindow
  readonly dropped: readonly HubEvent[]
}

/** The end that the reader is far from goes. Undefined when there is nothing to drop. */
export function trimmed(window: EventWindow, keep: "head" | "tail"): Trimmed | undefined {
  const { events } = window
  if (events.length <= MAX_HELD) return undefined
  const cut = keep === "head" ? KEPT : events.length - KEPT
  const [before, after] = [events.slice(0, cut), events.slice(cut)]
  return keep === "head"
    ? { window: { ...window, events: before }, dropped: after }
    : { window: { ...window, events: after }, dropped: before }
}

interface KeptPage {
  readonly events: readonly HubEvent[]
  readonly chars: number
}

const PAGE = 200
const MAX_CHARS = 24_000_000

/** Pages of the log that were let go of, the last few: a log does not change, so coming back needs no asking. */
export class PageCache {
  /** By the first event; the longest unused comes first. */
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
