import type { Session } from "@signalbox/protocol/hub-api"
import { Waker } from "@signalbox/transport"
import type { WebSocket } from "ws"
import { briefAsk, publicAsk } from "../asks/whole-ask.ts"
import { eventHead } from "../http/reply.ts"
import type { Ask } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import type { Published } from "../session/history.ts"

/** Somebody who watches. Whatever it does with what it is told, it does it at once and does not wait. */
export interface Watcher {
  readonly published?: (sessionId: string, items: readonly Published[]) => void
  readonly asked?: (ask: Ask) => void
  readonly changed?: (view: Session) => void
  readonly read?: (mark: ReadMark) => void
  /** The session was deleted for good. */
  readonly purged?: (sessionId: string) => void
  /** The session is another hub's now: nothing more is heard of it here. */
  readonly left?: (sessionId: string) => void
}

/** How far a person has read a session. */
export interface ReadMark {
  readonly person: string
  readonly sessionId: string
  readonly seq: number
}

/** Who watches what. One publication is handed to each watcher as the same object: nothing is encoded twice. */
export class FanOut {
  readonly #bySession = new Map<string, Set<Watcher>>()
  readonly #ofAll = new Set<Watcher>()

  /** Events and deltas of one session, its asks and changes. Returns what ends it. */
  watch(sessionId: string, watcher: Watcher): () => void {
    const watchers = this.#bySession.get(sessionId) ?? new Set()
    watchers.add(watcher)
    this.#bySession.set(sessionId, watchers)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#bySession.get(sessionId) === watchers) this.#bySession.delete(sessionId)
    }
  }

  /** Everything of every session. */
  watchAll(watcher: Watcher): () => void {
    this.#ofAll.add(watcher)
    return () => void this.#ofAll.delete(watcher)
  }

  countOf(sessionId: string): number {
    return this.#bySession.get(sessionId)?.size ?? 0
  }

  published(sessionId: string, items: readonly Published[]): void {
    this.#each(sessionId, (watcher) => watcher.published?.(sessionId, items))
  }

  asked(ask: Ask): void {
    this.#each(ask.sessionId, (watcher) => watcher.asked?.(ask))
  }

  changed(view: Session): void {
    this.#each(view.id, (watcher) => watcher.changed?.(view))
  }

  /** For those who watch all sessions: each of them tells its own person only. */
  read(mark: ReadMark): void {
    for (const watcher of this.#ofAll) watcher.read?.(mark)
  }

  purged(sessionId: string): void {
    // A watcher of the session stops at that.
    for (const watcher of [...(this.#bySession.get(sessionId) ?? []), ...this.#ofAll]) watcher.purged?.(sessionId)
  }

  left(sessionId: string): void {
    // A watcher of the session stops at that.
    for (const watcher of [...(this.#bySession.get(sessionId) ?? []), ...this.#ofAll]) watcher.left?.(sessionId)
  }

  #each(sessionId: string, tell: (watcher: Watcher) => void): void {
    for (const watcher of this.#bySession.get(sessionId) ?? []) tell(watcher)
    for (const watcher of this.#ofAll) tell(watcher)
  }
}

/** Somebody who reads a session's log to its end, and then hears what is published. */
export interface CatchUp {
  readonly after: number
  /** The last event that there is by now. */
  readonly lastSeq: () => number
  /** False when nobody wants the rest any more. */
  readonly isWanted: () => boolean
  /** A part of the log, read no faster than it is taken. */
  readonly read: (after: number) => AsyncIterable<readonly StoredEvent[]>
  readonly take: (events: readonly StoredEvent[]) => void
  readonly goLive: (cursor: number) => void
}

/** News of the meanwhile are read in the log. The end is looked at and `goLive` called in one go: nothing comes between. */
export async function catchUp({ after, lastSeq, isWanted, read, take, goLive }: CatchUp): Promise<void> {
  let cursor = after
  while (isWanted()) {
    if (cursor >= lastSeq()) return goLive(cursor)
    const before = cursor
    for await (const events of read(cursor)) {
      if (!isWanted()) return
      take(events)
      cursor = events.at(-1)?.seq ?? cursor
    }
    if (cursor === before && isWanted()) return goLive(cursor)
  }
}

/** An event or a delta, of what was published or of what a viewer has missed. */
type Shown = { readonly kind: "event"; readonly event: StoredEvent } | { readonly kind: "delta"; readonly line: string }

const frames = new WeakMap<readonly Shown[], readonly Bulk[]>()

/** Whole lines, ready for a socket. Put together and encoded once, however many viewers there are. */
export function framesOf(sessionId: string, items: readonly Shown[]): readonly Bulk[] {
  const made = frames.get(items) ?? [...cutFrames(sessionId, items)]
  frames.set(items, made)
  return made
}

/** Pieces that are joined once: text that grows bit by bit would be copied again to become a frame. */
function* cutFrames(sessionId: string, items: readonly Shown[]): Generator<Bulk> {
  const session = JSON.stringify(sessionId)
  const openEvent = `{"ev":"event","session":${session},`
  const openDelta = `{"ev":"delta","session":${session},"message":`
  let pieces: string[] = []
  let chars = 0
  let last: { readonly seq?: number } = {}
  for (const item of items) {
    const line = item.kind === "event" ? item.event.line.trim() : item.line
    if (item.kind === "event") {
      pieces.push(openEvent, eventHead(item.event), MESSAGE, line, CLOSE)
      last = { seq: item.event.seq }
    } else {
      pieces.push(openDelta, line, CLOSE)
    }
    chars += line.length
    if (chars < FRAME_CHARS) continue
    yield { sessionId, frame: Buffer.from(pieces.join("")), ...last }
    pieces = []
    chars = 0
  }
  if (pieces.length > 0) yield { sessionId, frame: Buffer.from(pieces.join("")), ...last }
}

const MESSAGE = '"message":'
const CLOSE = "}\n"

/** Made once for each object, however many want it. */
export function onceFor<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, { made: Made }>()
  return (key) => {
    const entry = known.get(key) ?? { made: make(key) }
    known.set(key, entry)
    return entry.made
  }
}

export const askLine = onceFor((ask: Ask) => JSON.stringify({ ev: "ask", ask: publicAsk(briefAsk(ask)) }))

export const readLine = onceFor(({ sessionId, seq }: ReadMark) =>
  JSON.stringify({ ev: "read", session: sessionId, seq }),
)

export function changedLine(view: Session): string {
  return JSON.stringify({ ev: "changed", session: view.id, record: view })
}

/** Where an outbox's frames go: a WebSocket, or a test. */
export interface Sink {
  readonly bufferedAmount: number
  /** `done` is called when the frame has left, or never will. */
  send(frame: string | Buffer, done: () => void): void
}

export interface OutboxOptions {
  readonly sink: Sink
  /** More waits than the bound allows: the outbox's owner drops what can be had again. */
  readonly onOverflow: () => void
}

/** Events and deltas: one line, or a frame of whole lines that several viewers share. */
export type Bulk = {
  readonly sessionId: string
  /** The viewer's cursor when it was handed to the socket. */
  readonly seq?: number
} & ({ readonly text: string } | { readonly frame: Buffer })

/** A frame is filled no further than this. */
const FRAME_CHARS = 256 * 1024
const SOCKET_BYTES = 1024 * 1024
const MAX_WAITING_CHARS = 16 * 1024 * 1024

/**
 * Lines that wait to be sent to one viewer. Lines share frames. Control lines (asks, changes, pongs) go ahead of bulk (events,
 * deltas). A viewer that does not read fills its own outbox and nobody else's.
 */
export class Outbox {
  readonly #options: OutboxOptions
  #control: string[] = []
  #bulk: Bulk[] = []
  #waitingChars = 0
  #isScheduled = false
  #isClosed = false
  readonly #sent = new Map<string, number>()
  readonly #room = new Waker()
  readonly #drained = new Waker()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  control(text: string): void {
    if (this.#isClosed) return
    this.#control.push(text)
    this.#waitingChars += text.length
    if (this.#waitingChars > MAX_WAITING_CHARS) this.#options.onOverflow()
    this.#schedule()
  }

  bulk(items: readonly Bulk[]): void {
    if (this.#isClosed) return
    for (const item of items) {
      this.#bulk.push(item)
      this.#waitingChars += sizeOf(item)
    }
    if (this.#waitingChars > MAX_WAITING_CHARS) this.#options.onOverflow()
    this.#schedule()
  }

  /** The last event of a session that was handed to the socket. */
  sentUpTo(sessionId: string): number | undefined {
    return this.#sent.get(sessionId)
  }

  start(sessionId: string, after: number): void {
    this.#sent.set(sessionId, after)
  }

  get waitingChars(): number {
    return this.#waitingChars
  }

  /** Whether too much waits, also after what can be had again was dropped. */
  get isFull(): boolean {
    return this.#waitingChars > MAX_WAITING_CHARS
  }

  /** Forgets what waits of all sessions. */
  dropBulk(): void {
    this.#bulk = []
    this.#waitingChars = charsOf(this.#control)
    if (this.#waitingChars < FRAME_CHARS) this.#wake()
  }

  /** Forgets what waits of a session. */
  drop(sessionId: string): void {
    this.#bulk = this.#bulk.filter((item) => item.sessionId !== sessionId)
    this.#waitingChars = charsOf(this.#control) + this.#bulk.reduce((size, item) => size + sizeOf(item), 0)
    this.#sent.delete(sessionId)
    if (this.#waitingChars < FRAME_CHARS) this.#wake()
  }

  /** Resolves when little waits: who reads the log for a viewer reads no faster than the viewer does. */
  async room(): Promise<void> {
    if (this.#isClosed || this.#waitingChars < FRAME_CHARS) return
    await this.#room.wait()
  }

  /** Resolves when nothing waits any more: all of it was handed to the socket, or it is over. */
  async drained(): Promise<void> {
    while (!this.#isClosed && this.#waitingChars > 0) {
      await this.#drained.wait()
    }
  }

  close(): void {
    this.#isClosed = true
    this.#control = []
    this.#bulk = []
    this.#waitingChars = 0
    this.#wake()
  }

  #wake(): void {
    this.#room.wake()
    if (this.#waitingChars === 0) this.#drained.wake()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    const { sink } = this.#options
    while (!this.#isClosed && sink.bufferedAmount < SOCKET_BYTES) {
      const frame = this.#nextFrame()
      if (frame === undefined) return
      sink.send(frame, () => this.#schedule())
    }
  }

  #nextFrame(): string | Buffer | undefined {
    const lines = this.#control
    this.#control = []
    let chars = charsOf(lines)
    this.#waitingChars -= chars
    let taken = 0
    let shared: Buffer | undefined
    while (taken < this.#bulk.length && chars < FRAME_CHARS) {
      const item = this.#bulk[taken]
      // A shared frame goes alone, as it is: nothing is put together or encoded again.
      if (item === undefined || ("frame" in item && lines.length > 0)) break
      this.#hand(item)
      taken += 1
      if ("frame" in item) {
        shared = item.frame
        break
      }
      lines.push(item.text)
      chars += item.text.length
    }
    if (taken > 0) this.#bulk = taken === this.#bulk.length ? [] : this.#bulk.slice(taken)
    if (this.#waitingChars < FRAME_CHARS) this.#wake()
    if (shared !== undefined) return shared
    return lines.length === 0 ? undefined : `${lines.join("\n")}\n`
  }

  #hand(item: Bulk): void {
    this.#waitingChars -= sizeOf(item)
    if (item.seq !== undefined) this.#sent.set(item.sessionId, item.seq)
  }
}

function sizeOf(item: Bulk): number {
  return "frame" in item ? item.frame.length : item.text.length
}

function charsOf(texts: readonly string[]): number {
  return texts.reduce((chars, text) => chars + text.length, 0)
}

/** A WebSocket as an outbox sees it. */
export function socketSink(socket: WebSocket, metrics: Pick<HubMetrics, "bytesSent">): Sink {
  return {
    get bufferedAmount() {
      return socket.bufferedAmount
    },
    send(frame, done) {
      metrics.bytesSent(frame.length)
      // Text, also when it is encoded already.
      socket.send(frame, { binary: false }, () => done())
    },
  }
}
