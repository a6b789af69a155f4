import type { NewEvent, StoredEvent } from "../model/event.ts"
import {
  type Appended,
  type AppendOptions,
  type EventLog,
  type LineSize,
  type LogBounds,
  MAX_READ_EVENTS,
  type ReadRange,
} from "../store/event-log.ts"

interface SessionLog {
  readonly events: StoredEvent[]
  readonly keys: Set<string>
}

/** Durable as long as the process: for tests. */
export class MemoryEventLog implements EventLog {
  readonly #sessions = new Map<string, SessionLog>()

  async append(session: string, events: readonly NewEvent[], _options?: AppendOptions): Promise<Appended> {
    const log = this.#open(session)
    const stored: StoredEvent[] = []
    for (const event of events) {
      if (event.key !== undefined && log.keys.has(event.key)) continue
      if (event.key !== undefined) log.keys.add(event.key)
      const numbered = { ...event, seq: log.events.length + 1 }
      log.events.push(numbered)
      stored.push(numbered)
    }
    const lastSeq = log.events.length
    return { stored, lastSeq: stored.at(-1)?.seq ?? lastSeq }
  }

  async read(session: string, range: ReadRange): Promise<readonly StoredEvent[]> {
    const events = this.#sessions.get(session)?.events ?? []
    const limit = Math.min(range.limit, MAX_READ_EVENTS)
    if (!(limit > 0)) return []
    const { after = 0, before = Number.POSITIVE_INFINITY } = range
    const from = Math.max(0, Math.floor(after))
    const to = Math.max(from, Math.min(events.length, Math.ceil(before) - 1))
    if (range.after !== undefined || range.before === undefined) {
      return within(events.slice(from, Math.min(to, from + limit)), range.maxBytes)
    }
    const last = events.slice(Math.max(from, to - limit), to)
    return within(last.toReversed(), range.maxBytes).toReversed()
  }

  async sizes(session: string, range: ReadRange): Promise<readonly LineSize[]> {
    const events = await this.read(session, range)
    return events.map(({ seq, line }) => ({ seq, bytes: Buffer.byteLength(line) }))
  }

  async find(session: string, key: string): Promise<StoredEvent | undefined> {
    return this.#sessions.get(session)?.events.find((event) => event.key === key)
  }

  async bounds(session: string): Promise<LogBounds> {
    const lastSeq = this.#sessions.get(session)?.events.length ?? 0
    return { firstSeq: Math.min(1, lastSeq), lastSeq }
  }

  async purge(session: string): Promise<void> {
    this.#sessions.delete(session)
  }

  async purgeSome(): Promise<boolean> {
    return false
  }

  #open(session: string): SessionLog {
    const known = this.#sessions.get(session)
    if (known !== undefined) return known
    const log = { events: [], keys: new Set<string>() }
    this.#sessions.set(session, log)
    return log
  }
}

function within(events: StoredEvent[], maxBytes = Number.POSITIVE_INFINITY): StoredEvent[] {
  let bytes = 0
  const tooMany = events.findIndex((event, index) => {
    bytes += Buffer.byteLength(event.line)
    return bytes > maxBytes && index > 0
  })
  return tooMany === -1 ? events : events.slice(0, tooMany)
}
