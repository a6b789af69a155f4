import {
  type EventPage,
  type EventQuery,
  HubClientError,
  type HubEvent,
  type HubSession,
  type Session,
} from "@signalbox/client"

/** The part of a session that a feed reads. */
export type LogSource = Pick<HubSession, "id" | "events" | "follow">

/** One session of a chain of forks: its events up to `upTo` are history of the fork. */
interface Part {
  readonly log: LogSource
  /** Added to a number of its log, it is the number in the fork's. */
  readonly offset: number
  readonly upTo: number
}

type Origin = Pick<Session, "parent" | "parentSeq">

/** The way to a session and its record. */
export type SessionAt = (id: string) => LogSource & { readonly get: () => Promise<Origin> }

/** Forks of forks of forks: further back the history is its own session's. */
const MAX_PARTS = 8
/** A number that no log reaches: asks for the last page. */
const END = Number.MAX_SAFE_INTEGER

/**
 * A fork's log with the history that it began with. That stands in front, with numbers below zero, and at zero a note of ours
 * says where the fork begins; so a reader pages and jumps through all of it as through one log.
 */
export class ForkedLog implements LogSource {
  readonly id: string
  readonly follow: LogSource["follow"]
  readonly #own: LogSource
  readonly #sessionAt: SessionAt
  /** The nearest first; not known before the first page is read. */
  #parts: Promise<readonly Part[]> | undefined
  #known: readonly Part[] = []
  #lastSeq: number | undefined

  constructor(id: string, sessionAt: SessionAt) {
    this.#own = sessionAt(id)
    this.#sessionAt = sessionAt
    this.id = id
    this.follow = this.#own.follow
  }

  /** The session that has an event, and its number there. */
  addressOf(seq: number): { readonly session: string; readonly seq: number } {
    if (seq > 0) return { session: this.id, seq }
    const part = this.#known.find((each) => seq > each.offset) ?? this.#known[0]
    return part === undefined
      ? { session: this.id, seq: 1 }
      : { session: part.log.id, seq: Math.max(1, seq - part.offset) }
  }

  async events(query: EventQuery = {}): Promise<EventPage> {
    const { before, after, around, limit } = query
    // The place that is asked for, as a number of this log.
    const at = before === undefined ? (after === undefined ? (around ?? 1) : after + 1) : before - 1
    const [parts, page] = await Promise.all([this.#findOnce(), at > 0 ? this.#own.events(query) : undefined])
    this.#known = parts
    if (page !== undefined) {
      this.#lastSeq = page.lastSeq
      if (parts.length === 0) return page
      if (page.events.length > 0 || before === undefined) return { ...page, firstSeq: firstOf(parts) }
    }
    this.#lastSeq ??= (await this.#own.events({ before: END, limit: 1 })).lastSeq
    const bounds = { firstSeq: firstOf(parts), lastSeq: this.#lastSeq, more: true }
    const [nearest] = parts
    if (nearest === undefined || at >= 0) {
      const note = await this.#note(nearest)
      return { ...bounds, events: note === undefined ? [] : [note] }
    }
    const part = parts.find((each) => at > each.offset) ?? nearest
    const local = (seq: number | undefined) => (seq === undefined ? undefined : seq - part.offset)
    const read = await part.log.events({
      ...(before === undefined ? {} : { before: Math.min(local(before) ?? END, part.upTo + 1) }),
      ...(after === undefined ? {} : { after: local(after) ?? 0 }),
      ...(around === undefined ? {} : { around: Math.max(1, local(around) ?? 1) }),
      ...(limit === undefined ? {} : { limit }),
    })
    const events = read.events
      .filter(({ seq }) => seq <= part.upTo)
      .map((event): HubEvent => ({ ...event, seq: event.seq + part.offset }))
    return { ...bounds, events }
  }

  /** Stands between the history and what is the fork's own. */
  async #note(part: Part | undefined): Promise<HubEvent | undefined> {
    if (part === undefined) return undefined
    const { events } = await part.log.events({ before: part.upTo + 1, limit: 1 })
    const message = { type: "hub", subtype: "forked", parent: part.log.id, seq: part.upTo }
    return { seq: 0, at: events[0]?.at ?? "", from: "hub", message }
  }

  /** A failure is not kept: the next page tries again. */
  #findOnce(): Promise<readonly Part[]> {
    this.#parts ??= this.#findParts().catch((error: unknown) => {
      this.#parts = undefined
      throw error
    })
    return this.#parts
  }

  async #findParts(): Promise<readonly Part[]> {
    const parts: Part[] = []
    let offset = 0
    let record = await this.#sessionAt(this.id).get().catch(rejectUnlessGone)
    while (record !== undefined && parts.length < MAX_PARTS) {
      const { parent, parentSeq = 0 } = record
      if (parent === undefined || parentSeq === 0) break
      const log = this.#sessionAt(parent)
      record = await log.get().catch(rejectUnlessGone)
      if (record === undefined) break
      // The fork's own events begin behind the note; those of its parent right behind the history before them.
      offset -= parts.length === 0 ? parentSeq + 1 : parentSeq
      parts.push({ log, offset, upTo: parentSeq })
    }
    return parts
  }
}

/** The first number there is. Logs begin at one. */
function firstOf(parts: readonly Part[]): number {
  return 1 + (parts.at(-1)?.offset ?? 0)
}

/** A session that is no longer there has no history to show; anything else is tried again with the next page. */
function rejectUnlessGone(error: unknown): undefined {
  if (error instanceof HubClientError && error.status === 404) return undefined
  throw error
}
