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
