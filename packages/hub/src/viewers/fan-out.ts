import type { Session } from "@signalbox/protocol/hub-api"
import { briefAsk } from "../asks/whole-ask.ts"
import { type Ask, publicAsk } from "../model/ask.ts"
import { eventFields, eventHead, type StoredEvent } from "../model/event.ts"
import type { Published } from "../session/history.ts"
import { FRAME_CHARS } from "./outbox.ts"

/** Somebody who watches. Whatever it does with what it is told, it does it at once and does not wait. */
export interface Watcher {
  readonly published?: (sessionId: string, items: readonly Published[]) => void
  readonly asked?: (ask: Ask) => void
  readonly changed?: (view: Session) => void
  readonly read?: (mark: ReadMark) => void
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

/** What is published meanwhile is read in the log. The end is looked at and `goLive` called in one go: nothing comes between. */
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

export function eventLine(sessionId: string, event: StoredEvent): string {
  return `{"ev":"event","session":${JSON.stringify(sessionId)},${eventFields(event)}}`
}

export function deltaLine(sessionId: string, line: string): string {
  return `{"ev":"delta","session":${JSON.stringify(sessionId)},"message":${line}}`
}

/** Whole lines, ready for a socket, and the last event in them. */
export interface SharedFrame {
  readonly frame: Buffer
  readonly seq: number | undefined
}

const frames = new WeakMap<readonly Published[], readonly SharedFrame[]>()

/** Put together and encoded once, however many viewers there are. */
export function framesOf(sessionId: string, items: readonly Published[]): readonly SharedFrame[] {
  const made = frames.get(items) ?? [...cutFrames(JSON.stringify(sessionId), items)]
  frames.set(items, made)
  return made
}

/** Pieces that are joined once: text that grows bit by bit would be copied again to become a frame. */
function* cutFrames(session: string, items: readonly Published[]): Generator<SharedFrame> {
  const openEvent = `{"ev":"event","session":${session},`
  const openDelta = `{"ev":"delta","session":${session},"message":`
  let pieces: string[] = []
  let chars = 0
  let seq: number | undefined
  for (const item of items) {
    const line = item.kind === "event" ? item.event.line.trim() : item.line
    if (item.kind === "event") {
      pieces.push(openEvent, eventHead(item.event), MESSAGE, line, CLOSE)
      seq = item.event.seq
    } else {
      pieces.push(openDelta, line, CLOSE)
    }
    chars += line.length
    if (chars < FRAME_CHARS) continue
    yield { frame: Buffer.from(pieces.join("")), seq }
    pieces = []
    chars = 0
  }
  if (pieces.length > 0) yield { frame: Buffer.from(pieces.join("")), seq }
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
