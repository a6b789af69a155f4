import { type Envelope, encode, fieldOf, textOf, type UnlistedRequest } from "@signalbox/protocol"
import { Waker } from "@signalbox/transport"
import { HubError } from "../errors.ts"
import type { NewEvent, StoredEvent } from "../model/event.ts"
import type { Appended, EventLog } from "../store/event-log.ts"

/** Items for viewers, in the order of the wire. */
export type Published =
  | { readonly kind: "event"; readonly event: StoredEvent; readonly message: Envelope }
  | { readonly kind: "delta"; readonly line: string; readonly message: Envelope }

export interface HistoryOptions {
  readonly session: string
  readonly log: EventLog
  readonly publish: (items: readonly Published[]) => void
  /** The log refused for good: the events are lost to it. Reported, never thrown. */
  readonly onFailed: (error: unknown) => void
  /** The agent's words are not in the log: it has to say them again. */
  readonly onAgentRefused: () => void
  readonly now?: (() => Date) | undefined
}

interface How {
  readonly line: string
  readonly by?: string
  readonly key?: string
}

interface EventItem {
  readonly kind: "event"
  readonly event: NewEvent
  readonly message: Envelope
  readonly synced: boolean
  /** Left out when nobody waits for it: agents say thousands, and a promise for each is what they would cost most. */
  readonly waiting?: { settle(stored: StoredEvent | undefined): void; fail(error: unknown): void }
}

type Item = EventItem | { readonly kind: "delta"; readonly line: string; readonly message: Envelope }

/** Events that the log takes or refuses together, and the deltas behind them. */
interface Run {
  readonly items: readonly Item[]
  readonly written: Promise<readonly StoredEvent[] | undefined>
}

/** Past this much of one session on its way, whoever reads its agent waits: others have room all the same. */
const HIGH_WATER_CHARS = 2 * 1024 * 1024
/** The cost of an item beside its line. */
const ITEM_CHARS = 2_048

/**
 * The way of all that is said in a session, into the log and to viewers. One order per session: an event is published when
 * it is durable, and a delta never overtakes the event before it. Lines of one tick go to the log at once. Messages of
 * people go in a call of their own: a full store refuses those at once and keeps what agents said.
 */
export class SessionHistory {
  readonly #options: HistoryOptions
  #gathering: Item[] = []
  #underWayChars = 0
  #pushed = 0
  #done = 0
  #refused = 0
  /** An agent's lines were refused, and those gathered meanwhile are too: the agent says all of it again, in its order. */
  #refusal: unknown
  #isScheduled = false
  /** Its session was purged, or is another hub's: nothing is kept of it here any more. */
  #gone: HubError | undefined
  #publishing: Promise<void> = Promise.resolve()
  readonly #change = new Waker()

  constructor(options: HistoryOptions) {
    this.#options = options
  }

  /** Resolves with the stored event when it was published, or with undefined when the log had it already. What people send is synced. */
  record(from: NewEvent["from"], message: Envelope, how: How): Promise<StoredEvent | undefined> {
    return new Promise((settle, fail) => {
      const event = { at: this.#time(), from, ...how }
      this.#push({ kind: "event", event, message, synced: from === "client", waiting: { settle, fail } })
    })
  }

  /** An agent's lines that nobody waits for. */
  keep(message: Envelope, how: How): void {
    this.#push({ kind: "event", event: { at: this.#time(), from: "agent", ...how }, message, synced: false })
  }

  /** Interrupts and changes of mode or model are part of the history. */
  recordRequest(request: UnlistedRequest, by: string): Promise<StoredEvent | undefined> {
    return this.recordAnswer({ type: "control_request", request_id: "", request }, by)
  }

  recordAnswer(message: Envelope, by: string, from: "client" | "hub" = "client"): Promise<StoredEvent | undefined> {
    return this.record(from, message, { by, line: encode(message) })
  }

  /** A note of the hub's own, in the log; with a key, once. */
  note(what: string, details: Readonly<Record<string, unknown>> = {}, key?: string): Promise<StoredEvent | undefined> {
    const message: Envelope = { type: "hub", subtype: what, ...details }
    return this.record("hub", message, { line: encode(message), ...(key === undefined ? {} : { key }) })
  }

  /** Nobody else tells it to those who come later. */
  noteCancelled(uuid: string): Promise<StoredEvent | undefined> {
    return this.note("message_cancelled", { message_uuid: uuid }, cancelledKey(uuid))
  }

  delta(line: string, message: Envelope): void {
    this.#push({ kind: "delta", line, message })
  }

  /** Resolves when there is room for more: readers of agents wait for it. All that was read so far is handed to the log at once. */
  async room(): Promise<void> {
    this.#flush()
    while (this.#underWayChars >= HIGH_WATER_CHARS) await this.#change.wait()
  }

  /** Whatever comes from here on is refused. */
  vanish(why: HubError): void {
    this.#gone = why
  }

  /** Nothing is on its way. */
  get isQuiet(): boolean {
    return this.#done === this.#pushed
  }

  /** How much of what agents said the log did not take: whoever has it still must not let go of it. */
  get refused(): number {
    return this.#refused
  }

  /** Resolves when everything pushed so far was published, or refused by the log. */
  async settled(): Promise<void> {
    const upTo = this.#pushed
    while (this.#done < upTo) await this.#change.wait()
  }

  #time(): number {
    return this.#options.now?.().getTime() ?? Date.now()
  }

  #push(item: Item): void {
    if (this.#gone !== undefined) {
      if (item.kind === "event") item.waiting?.fail(this.#gone)
      // The sender says it again to the hub that has the session now.
      if (this.#gone.code === "hub/moved") this.#refused += 1
      return
    }
    this.#gathering.push(item)
    this.#underWayChars += charsOf(item)
    this.#pushed += 1
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Not sooner: lines come one by one in a tick, and to hand each to the log costs three times as much.
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#gathering.length === 0) return
    const batch = this.#gathering
    this.#gathering = []
    const runs = runsOf(batch).map((items) => this.#write(items))
    this.#refusal = undefined
    this.#publishing = this.#publishing.then(() => this.#publishAll(runs))
  }

  #write(items: readonly Item[]): Run {
    const events: NewEvent[] = []
    let synced = false
    for (const item of items) {
      if (item.kind !== "event") continue
      events.push(item.event)
      synced ||= item.synced
    }
    if (events.length === 0) return { items, written: NOTHING_WRITTEN }
    const isAgents = events.some(({ from }) => from === "agent")
    const written = this.#append(events, synced, isAgents).then(
      ({ stored }) => stored,
      (error: unknown) => {
        for (const item of items) if (item.kind === "event") item.waiting?.fail(error)
        if (!synced) this.#refused += events.length
        this.#options.onFailed(error)
        if (!isAgents) return undefined
        if (this.#gathering.length > 0) this.#refusal = error
        this.#options.onAgentRefused()
        return undefined
      },
    )
    return { items, written }
  }

  #append(events: readonly NewEvent[], synced: boolean, isAgents: boolean): Promise<Appended> {
    if (isAgents && this.#refusal !== undefined) return Promise.reject(this.#refusal)
    return this.#options.log.append(this.#options.session, events, { synced })
  }

  async #publishAll(runs: readonly Run[]): Promise<void> {
    for (const run of runs) {
      this.#publish(run.items, (await run.written) ?? [])
      for (const item of run.items) this.#underWayChars -= charsOf(item)
      this.#done += run.items.length
    }
    this.#change.wake()
  }

  /** The log returns what it stored, in order, without the ones it had already. */
  #publish(items: readonly Item[], stored: readonly StoredEvent[]): void {
    const published: Published[] = []
    const settled: (() => void)[] = []
    let next = 0
    for (const item of items) {
      if (item.kind === "delta") {
        published.push(item)
        continue
      }
      const event = isStoredAs(item.event, stored[next]) ? stored[next++] : undefined
      if (event !== undefined) published.push({ kind: "event", event, message: item.message })
      const { waiting } = item
      if (waiting !== undefined) settled.push(() => waiting.settle(event))
    }
    try {
      if (published.length > 0) this.#options.publish(published)
    } catch (error) {
      // A watcher's mistake is not the next event's.
      this.#options.onFailed(error)
    }
    for (const settle of settled) settle()
  }
}

function charsOf(item: Item): number {
  return ITEM_CHARS + (item.kind === "event" ? item.event.line : item.line).length
}

const NOTHING_WRITTEN: Promise<readonly StoredEvent[]> = Promise.resolve([])

function isStoredAs(event: NewEvent, stored: StoredEvent | undefined): boolean {
  return stored !== undefined && stored.line === event.line && stored.key === event.key && stored.at === event.at
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

/** The key of the note that somebody took this message back. */
export function cancelledKey(uuid: string): string {
  return `message_cancelled:${uuid}`
}

/** Nothing that was being said before it goes on. Other events, such as those about background tasks, come in the middle of a sentence. */
export function endsSentence(message: Envelope): boolean {
  return SENTENCE_ENDS.has(message.type) || (message.type === "system" && message["subtype"] === "init")
}

const SENTENCE_ENDS: ReadonlySet<string> = new Set(["assistant", "user", "result"])

/** Past this a message is kept no longer; who arrives then sees it whole at its end. */
const MAX_KEPT_CHARS = 4 * 1024 * 1024
/** More than this speak at once only to fill the memory. */
const MAX_SPEAKERS = 100

/** Deltas of one block that follow each other are one part, so that a long sentence is not kept as thousands of lines. */
type Part =
  | { readonly kind: "line"; readonly line: string }
  | {
      readonly kind: "deltas"
      readonly message: Envelope
      readonly index: unknown
      readonly type: string
      readonly field: string
      text: string
    }

interface Speaker {
  readonly parts: Part[]
  chars: number
}

/** The sentences under way, per speaker (the agent and each sub-agent): a viewer that arrives in mid-sentence gets the sentence so far. */
export class MessageInProgress {
  readonly #speakers = new Map<string, Speaker>()

  take(message: Envelope, line: string): void {
    const event = message.type === "stream_event" ? fieldOf(message, "event") : undefined
    if (event === undefined) return
    const name = textOf(message, "parent_tool_use_id") ?? ""
    if (event["type"] === "message_start") this.#begin(name)
    if (event["type"] === "message_stop") return void this.#speakers.delete(name)
    const speaker = this.#speakers.get(name)
    // Somebody who was not heard from the beginning is not quoted from the middle.
    if (speaker === undefined) return
    add(speaker, { event, message, line })
    if (speaker.chars > MAX_KEPT_CHARS) this.#speakers.delete(name)
  }

  #begin(name: string): void {
    if (this.#speakers.size < MAX_SPEAKERS || this.#speakers.has(name)) {
      this.#speakers.set(name, { parts: [], chars: 0 })
    }
  }

  /** Whether somebody is in the middle of a sentence. */
  get isUnderWay(): boolean {
    return this.#speakers.size > 0
  }

  /** A turn's end, or the loss of the agent: nobody is speaking any more. */
  clear(): void {
    this.#speakers.clear()
  }

  /** The lines that tell a newcomer the sentence so far. */
  lines(): readonly string[] {
    return [...this.#speakers.values()].flatMap((speaker) => speaker.parts.map(lineOf))
  }
}

interface Heard {
  readonly event: Readonly<Record<string, unknown>>
  readonly message: Envelope
  readonly line: string
}

function add(speaker: Speaker, { event, message, line }: Heard): void {
  const delta = deltaOf(event)
  const last = speaker.parts.at(-1)
  if (delta === undefined) {
    speaker.parts.push({ kind: "line", line })
    speaker.chars += line.length
    return
  }
  const continues = last?.kind === "deltas" && last.index === event["index"] && last.type === delta.type
  // The first of a block is kept whole, whatever it carries beside its text.
  speaker.chars += continues ? delta.text.length : line.length
  if (continues) last.text += delta.text
  else speaker.parts.push({ kind: "deltas", message, index: event["index"], ...delta })
}

function lineOf(part: Part): string {
  if (part.kind === "line") return part.line
  const event = { ...fieldOf(part.message, "event"), delta: { type: part.type, [part.field]: part.text } }
  return JSON.stringify({ ...part.message, event })
}

const TEXT_FIELDS: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
}

function deltaOf(event: Readonly<Record<string, unknown>>): { type: string; field: string; text: string } | undefined {
  if (event["type"] !== "content_block_delta") return undefined
  const delta = fieldOf(event, "delta")
  const type = textOf(delta, "type") ?? ""
  const field = TEXT_FIELDS[type]
  const text = field === undefined ? undefined : textOf(delta, field)
  return field === undefined || text === undefined ? undefined : { type, field, text }
}
