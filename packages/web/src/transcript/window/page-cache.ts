import type { HubEvent } from "@signalbox/client"

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
