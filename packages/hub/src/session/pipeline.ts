import type { Envelope } from "@signalbox/protocol"
import type { NewEvent, StoredEvent } from "../model/event.ts"
import type { EventLog } from "../store/event-log.ts"

/** What goes to viewers, in the order of the wire. */
export type Published =
  | { readonly kind: "event"; readonly event: StoredEvent; readonly message: Envelope }
  | { readonly kind: "delta"; readonly line: string; readonly message: Envelope }

export interface PipelineOptions {
  readonly session: string
  readonly log: EventLog
  readonly publish: (items: readonly Published[]) => void
  /** The log refused for good: the events are lost to it. Reported, never thrown. */
  readonly onFailed: (error: unknown) => void
}

interface EventItem {
  readonly kind: "event"
  readonly event: NewEvent
  readonly message: Envelope
  readonly synced: boolean
  readonly settle: (stored: StoredEvent | undefined) => void
  readonly fail: (error: unknown) => void
}

type Item = EventItem | { readonly kind: "delta"; readonly line: string; readonly message: Envelope }

/** Events that the log takes or refuses together, and the deltas behind them. */
interface Run {
  readonly items: readonly Item[]
  readonly events: readonly EventItem[]
  readonly written: Promise<readonly StoredEvent[] | undefined>
}

/** Past this many items on their way, whoever reads the agent waits. */
const HIGH_WATER_ITEMS = 10_000

/**
 * One order per session: an event is published when it is durable, and a delta never overtakes the event before it. What
 * comes in one tick goes to the log at once. What people send goes in a call of its own: a full store refuses that at once
 * and keeps what agents said.
 */
export class SessionPipeline {
  readonly #options: PipelineOptions
  #gathering: Item[] = []
  #underWay = 0
  #isScheduled = false
  #publishing: Promise<void> = Promise.resolve()
  #wakers: (() => void)[] = []

  constructor(options: PipelineOptions) {
    this.#options = options
  }

  /** Resolves with the stored event when it was published, or with undefined when the log had it already. */
  event(event: NewEvent, message: Envelope, options: { synced?: boolean } = {}): Promise<StoredEvent | undefined> {
    return new Promise((settle, fail) => {
      this.#push({ kind: "event", event, message, synced: options.synced === true, settle, fail })
    })
  }

  delta(line: string, message: Envelope): void {
    this.#push({ kind: "delta", line, message })
  }

  /** Resolves when there is room for more: readers of agents wait for it. */
  async room(): Promise<void> {
    while (this.#underWay >= HIGH_WATER_ITEMS) await new Promise<void>((resolve) => this.#wakers.push(resolve))
  }

  /** Resolves when everything pushed so far was published. */
  async settled(): Promise<void> {
    while (this.#underWay > 0) await new Promise<void>((resolve) => this.#wakers.push(resolve))
  }

  #push(item: Item): void {
    this.#gathering.push(item)
    this.#underWay += 1
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    this.#isScheduled = false
    const batch = this.#gathering
    this.#gathering = []
    const runs = runsOf(batch).map((items) => this.#write(items))
    this.#publishing = this.#publishing.then(() => this.#publishAll(runs))
  }

  #write(items: readonly Item[]): Run {
    const events = items.filter((item) => item.kind === "event")
    if (events.length === 0) return { items, events, written: Promise.resolve([]) }
    const append = this.#options.log.append(
      this.#options.session,
      events.map((item) => item.event),
      { synced: events.some((item) => item.synced) },
    )
    const written = append.then(
      ({ stored }) => stored,
      (error: unknown) => {
        for (const item of events) item.fail(error)
        this.#options.onFailed(error)
        return undefined
      },
    )
    return { items, events, written }
  }

  async #publishAll(runs: readonly Run[]): Promise<void> {
    for (const run of runs) {
      const stored = await run.written
      this.#publish(run, stored === undefined ? new Map() : matchStored(run.events, stored))
      this.#underWay -= run.items.length
    }
    const wakers = this.#wakers
    this.#wakers = []
    for (const wake of wakers) wake()
  }

  #publish({ items }: Run, stored: ReadonlyMap<EventItem, StoredEvent>): void {
    const published = items.flatMap((item): readonly Published[] => {
      if (item.kind === "delta") return [item]
      const event = stored.get(item)
      return event === undefined ? [] : [{ kind: "event", event, message: item.message }]
    })
    try {
      if (published.length > 0) this.#options.publish(published)
    } catch (error) {
      // A watcher's mistake is not the next event's.
      this.#options.onFailed(error)
    }
    for (const item of items) if (item.kind === "event") item.settle(stored.get(item))
  }
}

/** A new run begins where what people sent and what agents said meet. */
function runsOf(batch: readonly Item[]): Item[][] {
  const runs: Item[][] = []
  let synced: boolean | undefined
  for (const item of batch) {
    const isNew = item.kind === "event" && item.synced !== synced
    if (item.kind === "event") synced = item.synced
    const last = runs.at(-1)
    if (last === undefined || isNew) runs.push([item])
    else last.push(item)
  }
  return runs
}

/** The log returns what it stored, in order, without the ones it had already. */
function matchStored(items: readonly EventItem[], stored: readonly StoredEvent[]): Map<EventItem, StoredEvent> {
  const matched = new Map<EventItem, StoredEvent>()
  let next = 0
  for (const item of items) {
    const candidate = stored[next]
    if (candidate === undefined) break
    if (candidate.line !== item.event.line || candidate.key !== item.event.key || candidate.at !== item.event.at)
      continue
    matched.set(item, candidate)
    next += 1
  }
  return matched
}
