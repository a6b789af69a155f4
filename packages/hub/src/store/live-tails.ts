import type { StoredEvent } from "../model/event.ts"
import type { ReadRange } from "./event-log.ts"

type ReadEvents = (session: string, range: ReadRange) => Promise<readonly StoredEvent[]>

const MAX_TAIL_EVENTS = 1000
const MAX_TAIL_BYTES = 4 * 1024 * 1024
const CATCH_UP = { limit: 500, maxBytes: MAX_TAIL_BYTES }

/** What was appended since a follower last looked, up to a bound: past it the follower reads from the log again. */
class Tail {
  #events: StoredEvent[] = []
  #bytes = 0
  /** Something was dropped, so the log must be read. At first everything was. */
  #isBehind = true
  #wake: () => void = () => undefined

  push(events: readonly StoredEvent[]): void {
    if (this.#isBehind) return this.#wake()
    for (const event of events) {
      this.#events.push(event)
      this.#bytes += event.line.length
    }
    if (this.#events.length > MAX_TAIL_EVENTS || this.#bytes > MAX_TAIL_BYTES) {
      this.#isBehind = true
      this.#clear()
    }
    this.#wake()
  }

  get isBehind(): boolean {
    return this.#isBehind
  }

  /** From here on everything is collected. Called before the log is read, so that nothing falls in between. */
  collect(): void {
    this.#isBehind = false
    this.#clear()
  }

  fallBehind(): void {
    this.#isBehind = true
    this.#clear()
  }

  take(): readonly StoredEvent[] {
    const events = this.#events
    this.#clear()
    return events
  }

  /** Resolves when something was pushed, or at once if something is here. */
  changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isBehind || this.#events.length > 0) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        signal.removeEventListener("abort", wake)
        this.#wake = () => undefined
        resolve()
      }
      signal.addEventListener("abort", wake)
      this.#wake = wake
    })
  }

  #clear(): void {
    this.#events = []
    this.#bytes = 0
  }
}

/** The followers of every session: catch-up from the log, then live from memory, and back to the log when too slow. */
export class LiveTails {
  readonly #read: ReadEvents
  readonly #tails = new Map<string, Set<Tail>>()

  constructor(read: ReadEvents) {
    this.#read = read
  }

  /** Only what is durable, in order. */
  publish(session: string, events: readonly StoredEvent[]): void {
    for (const tail of this.#tails.get(session) ?? []) tail.push(events)
  }

  follow(session: string, after: number, signal: AbortSignal): AsyncIterable<StoredEvent> {
    return {
      [Symbol.asyncIterator]: () => {
        const stop = new AbortController()
        const ended = AbortSignal.any([signal, stop.signal])
        const events = this.#events(session, after, ended)
        return {
          next: () => events.next(),
          return: () => {
            // A generator that waits would not hear of it.
            stop.abort()
            return events.return(undefined)
          },
        }
      },
    }
  }

  async *#events(session: string, after: number, signal: AbortSignal): AsyncGenerator<StoredEvent, undefined> {
    const tail = this.#attach(session)
    let cursor = after
    try {
      while (!signal.aborted) {
        const isLive = !tail.isBehind
        for (const event of isLive ? tail.take() : await this.#catchUp(tail, session, cursor)) {
          if (signal.aborted) return
          if (event.seq <= cursor) continue
          if (isLive && event.seq !== cursor + 1) {
            // Somebody else writes this log too: only the log itself knows what is missing.
            tail.fallBehind()
            break
          }
          cursor = event.seq
          yield event
        }
        await tail.changed(signal)
      }
    } finally {
      this.#detach(session, tail)
    }
  }

  async #catchUp(tail: Tail, session: string, cursor: number): Promise<readonly StoredEvent[]> {
    tail.collect()
    const page = await this.#read(session, { after: cursor, ...CATCH_UP })
    // More is left: what was collected meanwhile would come before its turn.
    if (page.length > 0) tail.fallBehind()
    return page
  }

  #attach(session: string): Tail {
    const tail = new Tail()
    const tails = this.#tails.get(session)
    if (tails === undefined) this.#tails.set(session, new Set([tail]))
    else tails.add(tail)
    return tail
  }

  #detach(session: string, tail: Tail): void {
    const tails = this.#tails.get(session)
    tails?.delete(tail)
    if (tails?.size === 0) this.#tails.delete(session)
  }
}
