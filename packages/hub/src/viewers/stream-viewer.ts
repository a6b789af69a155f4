import { isObject, textOf } from "@signalbox/protocol"
import type { Session } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { ReplyRoom, ReplyShare } from "../http/reply.ts"
import type { HubCore } from "../hub-core.ts"
import type { Ask } from "../model/ask.ts"
import type { EventPage } from "../model/event.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import type { Published } from "../session/history.ts"
import type { LiveSession } from "../session/live-session.ts"
import { askLine, catchUp, changedLine, type FanOut, framesOf, Outbox, readLine, type Sink } from "./fan-out.ts"

/** A viewer's needs of a session, this hub's or another's. */
export interface WatchedSession extends Pick<LiveSession, "id" | "view" | "inProgress" | "gone"> {
  readonly record: { readonly lastSeq: number }
}

export interface FoundSession {
  readonly session: WatchedSession
  /** Where it is told of. */
  readonly fanOut: FanOut
}

export interface StreamViewerOptions {
  readonly sink: Sink
  /** The room that all viewers share for what waits, and this viewer's token. */
  readonly room: ReplyRoom
  readonly token: string
  /** Who watches: hears of their own read marks. */
  readonly person: string
  readonly core: Pick<HubCore, "readEvents">
  /** Brings a session into memory, where it stays while it is watched. */
  readonly find: (sessionId: string) => Promise<FoundSession>
  /** Where all sessions are told of. */
  readonly fanOuts: readonly FanOut[]
  /** For a hub that follows: hears of everybody's read marks, and of all sessions in memory when it comes. */
  readonly forFellow?: { readonly sessions: () => Iterable<Session> } | undefined
  /** Tells of the open asks of a session, or of all, until it is told false: none that is settled by then. */
  readonly tellOpenAsks: (sessionId: string | undefined, tell: (ask: Ask) => Promise<boolean>) => Promise<void>
  /** Ends a viewer that reads nothing at all. */
  readonly cutOff?: () => void
  readonly metrics?: Pick<HubMetrics, "viewerLagged" | "replayCaughtUp">
}

/** `opening`: its session is being found. `catching-up`: reads the log; what is published meanwhile will be read there. `live`: handed on as it comes. */
interface Subscription {
  phase: "opening" | "catching-up" | "live" | "over"
  /** The last event that was read in the log. */
  cursor: number
  readonly end: () => void
}

const PAGE = 500
/** A viewer whose socket holds no more than this reads, and is kept while there is no room, unless it asks for much at once. */
const LITTLE_BYTES = 64 * 1024
const MUCH_BYTES = 2 * 1024 * 1024
/** Rubbish is short, and the reply to it is not. */
const MAX_REFUSALS = 1_000
const MAX_SUBSCRIPTIONS = 10_000
const ALL = "*"

/** One viewer on `/api/stream`: any number of sessions on one socket, each at its own cursor. */
export class StreamViewer {
  readonly #options: StreamViewerOptions
  readonly #outbox: Outbox
  readonly #share: ReplyShare
  #refusals = 0
  #readingBytes = 0
  readonly #subscriptions = new Map<string, Subscription>()

  constructor(options: StreamViewerOptions) {
    this.#options = options
    this.#share = options.room.open(options.token)
    this.#outbox = new Outbox({
      sink: countedSink(options.sink, () => this.#giveBack()),
      onOverflow: () => this.#lag(),
    })
  }

  /** One line from the viewer. Never throws: what is wrong is told. */
  take(line: string): void {
    let op: unknown
    try {
      op = JSON.parse(line)
    } catch {
      return this.#refuse('not JSON: one operation a line, as {"op":"subscribe","session":"ID"}')
    }
    if (!isObject(op)) return this.#refuse("not an object")
    const session = textOf(op, "session")
    switch (op["op"]) {
      case "ping":
        return this.#tell(`{"ev":"pong"}`)
      case "subscribe":
        return session === undefined
          ? this.#refuse('subscribe needs a session, or "*"')
          : this.#subscribe(session, op["after"])
      case "unsubscribe":
        return session === undefined ? this.#refuse("unsubscribe needs a session") : this.#unsubscribe(session)
      default:
        return this.#refuse("there are subscribe, unsubscribe and ping")
    }
  }

  close(): void {
    // A map may lose entries while it is gone through.
    for (const session of this.#subscriptions.keys()) this.#unsubscribe(session)
    this.#outbox.close()
    this.#share.close()
  }

  #subscribe(session: string, after: unknown): void {
    if (after !== undefined && !(typeof after === "number" && Number.isInteger(after) && after >= 0)) {
      return this.#refuse("after is a seq: 0 or more", session)
    }
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
      return this.#refuse("too many subscriptions on one socket", session)
    }
    this.#unsubscribe(session)
    if (session === ALL) return this.#subscribeAll()
    void this.#open(session, after)
  }

  async #open(session: string, after: number | undefined): Promise<void> {
    const opening: Subscription = { phase: "opening", cursor: 0, end: () => undefined }
    this.#subscriptions.set(session, opening)
    try {
      let found = await this.#options.find(session)
      // It may have gone to another hub in the same moment: nobody would tell of that.
      while (found.session.gone !== undefined) found = await this.#options.find(session)
      if (this.#subscriptions.get(session) === opening) this.#begin(found, after)
    } catch (error) {
      if (this.#subscriptions.get(session) === opening) this.#subscriptions.delete(session)
      this.#fail(error, session)
    }
  }

  #subscribeAll(): void {
    const { fanOuts, person, forFellow } = this.#options
    const word = (ev: string, session: string) => this.#tell(JSON.stringify({ ev, session }))
    const ends = fanOuts.map((fanOut) =>
      fanOut.watchAll({
        asked: (ask) => this.#tell(askLine(ask)),
        changed: (view) => this.#tell(changedLine(view)),
        read: (mark) => {
          if (forFellow !== undefined) this.#tell(JSON.stringify({ ev: "read", session: mark.sessionId, ...mark }))
          else if (mark.person === person) this.#tell(readLine(mark))
        },
        purged: (session) => word("purged", session),
        ...(forFellow && { left: (session: string) => word("left", session) }),
      }),
    )
    const end = () => {
      for (const endOne of ends) endOne()
    }
    const subscription: Subscription = { phase: "live", cursor: 0, end }
    this.#subscriptions.set(ALL, subscription)
    this.#tell(`{"ev":"subscribed","session":"*","verdict":"ok","firstSeq":0,"lastSeq":0}`)
    void this.#tellOpenAsks(ALL, subscription).then(() => this.#tellSessions(subscription))
  }

  /** A hub that was away does not know what it missed. */
  async #tellSessions(subscription: Subscription): Promise<void> {
    const { forFellow } = this.#options
    if (forFellow === undefined) return
    for (const view of forFellow.sessions()) {
      if (subscription.phase === "over") return
      this.#tell(changedLine(view))
      await this.#outbox.room()
    }
    if (subscription.phase === "live") this.#tell(`{"ev":"all"}`)
  }

  #begin({ session, fanOut }: FoundSession, after: number | undefined): void {
    const view = session.view()
    const { id, lastSeq } = view
    const subscription: Subscription = {
      phase: "catching-up",
      cursor: 0,
      end: fanOut.watch(id, {
        published: (_id, items) => this.#publish(id, subscription, items),
        asked: (ask) => this.#tellOnce(() => this.#tell(askLine(ask))),
        changed: (changed) => this.#tellOnce(() => this.#tell(changedLine(changed))),
        left: () => this.#resumeElsewhere(id, subscription),
        purged: () => this.#giveUp(id, subscription, new HubError("session/unknown", `session ${id} was purged`)),
      }),
    }
    this.#subscriptions.set(id, subscription)
    const start = after ?? lastSeq
    const verdict = start > lastSeq ? "gap" : "ok"
    const firstSeq = lastSeq === 0 ? 0 : 1
    this.#outbox.start(id, Math.min(start, lastSeq))
    const told = { ev: "subscribed", session: id, verdict, firstSeq, lastSeq }
    this.#tell(JSON.stringify(told))
    this.#tell(changedLine(view))
    void this.#tellOpenAsks(id, subscription).then(() => this.#catchUp(session, subscription, Math.min(start, lastSeq)))
  }

  /** Each when the one before it has left: what many agents ask may be much. */
  async #tellOpenAsks(session: string, subscription: Subscription): Promise<void> {
    const tell = async (ask: Ask) => {
      if (subscription.phase !== "over") this.#tell(askLine(ask))
      await this.#outbox.room()
      return subscription.phase !== "over"
    }
    try {
      await this.#options.tellOpenAsks(session === ALL ? undefined : session, tell)
    } catch (error) {
      this.#giveUp(session, subscription, error)
    }
  }

  /** Those who watch all hear of asks and changes once, not once more for each session they follow. */
  #tellOnce(tell: () => void): void {
    if (!this.#subscriptions.has(ALL)) tell()
  }

  async #catchUp(session: WatchedSession, subscription: Subscription, after: number): Promise<void> {
    const { id } = session
    const { core, metrics } = this.#options
    const begun = performance.now()
    try {
      await catchUp({
        after,
        lastSeq: () => session.record.lastSeq,
        isWanted: () => subscription.phase === "catching-up",
        read: (cursor) => this.#paced(core.readEvents(id, { after: cursor, limit: PAGE }), subscription),
        take: (events) =>
          this.#outbox.bulk(
            framesOf(
              id,
              events.map((event) => ({ kind: "event", event })),
            ),
          ),
        goLive: (cursor) => {
          metrics?.replayCaughtUp({ events: cursor - after, seconds: (performance.now() - begun) / 1000 })
          subscription.cursor = cursor
          this.#goLive(session, subscription)
        },
      })
    } catch (error) {
      this.#giveUp(id, subscription, error)
    }
  }

  /** Nothing is read from the log for which there is no room: viewers that do not read would fill the memory. */
  async *#paced(page: Promise<EventPage>, subscription: Subscription) {
    const { pieces, largestPieceBytes } = await page
    const reading = pieces[Symbol.asyncIterator]()
    for (;;) {
      await this.#outbox.room()
      while (subscription.phase === "catching-up" && !this.#share.hold(this.#heldBytes + largestPieceBytes)) {
        await this.#options.room.freed()
      }
      if (subscription.phase !== "catching-up") return
      this.#readingBytes += largestPieceBytes
      try {
        const { done, value } = await reading.next()
        if (done === true) return
        yield value
      } finally {
        this.#readingBytes -= largestPieceBytes
        this.#giveBack()
      }
    }
  }

  /** Counts waiting text and the page that is being read. */
  get #heldBytes(): number {
    return this.#outbox.waitingChars + this.#options.sink.bufferedAmount + this.#readingBytes
  }

  #giveBack(): void {
    this.#share.hold(Math.min(this.#share.bytes, this.#heldBytes))
  }

  #tell(line: string): void {
    this.#outbox.control(line)
    const bytes = this.#heldBytes
    const isDeaf = this.#options.sink.bufferedAmount > LITTLE_BYTES || bytes > MUCH_BYTES
    if (!isDeaf || bytes <= this.#share.bytes || this.#share.hold(bytes)) return
    this.#end()
  }

  /** It asks and does not read: it comes back and begins anew. */
  #end(): void {
    this.close()
    this.#options.cutOff?.()
  }

  #giveUp(id: string, subscription: Subscription, error: unknown): void {
    if (subscription.phase === "over") return
    this.#fail(error, id)
    this.#unsubscribe(id)
  }

  #goLive({ id, inProgress }: WatchedSession, subscription: Subscription): void {
    subscription.phase = "live"
    // The sentence in progress, for somebody who arrives in its middle.
    const deltas = inProgress.lines().map((line) => ({ kind: "delta" as const, line }))
    this.#outbox.bulk(framesOf(id, deltas))
  }

  #publish(id: string, subscription: Subscription, items: readonly Published[]): void {
    if (subscription.phase !== "live") return
    // The log may have been read further than was published by then.
    const isNew = (item: Published) => item.kind === "delta" || item.event.seq > subscription.cursor
    const unread = items.every(isNew) ? items : items.filter(isNew)
    // In one go: when it is too much all of it is dropped, and nothing comes after `lagged`.
    this.#outbox.bulk(framesOf(id, unread))
  }

  /** Too much waits: what waits is dropped, and the viewer resumes from its cursor when it can. */
  #lag(): void {
    this.#options.metrics?.viewerLagged()
    const lagging = [...this.#subscriptions].flatMap(([id, { phase }]) =>
      id === ALL || phase === "opening" ? [] : [id],
    )
    const told = lagging.map((session) => {
      const resumeAfter = this.#outbox.sentUpTo(session) ?? 0
      return JSON.stringify({ ev: "lagged", session, resumeAfter })
    })
    this.#outbox.dropBulk()
    for (const id of lagging) this.#unsubscribe(id)
    // Lines that cannot be had again are too much by themselves: the viewer comes back and begins anew.
    if (this.#outbox.isFull) return this.#end()
    for (const line of told) this.#tell(line)
  }

  /** The viewer subscribes again at its cursor, and finds the session wherever it is by then. */
  #resumeElsewhere(session: string, subscription: Subscription): void {
    if (subscription.phase === "over") return
    const resumeAfter = this.#outbox.sentUpTo(session) ?? 0
    this.#unsubscribe(session)
    this.#tell(JSON.stringify({ ev: "lagged", session, resumeAfter }))
  }

  #unsubscribe(session: string): void {
    const subscription = this.#subscriptions.get(session)
    if (subscription === undefined) return
    subscription.phase = "over"
    subscription.end()
    this.#subscriptions.delete(session)
    this.#outbox.drop(session)
    this.#giveBack()
  }

  #refuse(message: string, session?: string): void {
    this.#refusals += 1
    if (this.#refusals > MAX_REFUSALS) return this.#end()
    this.#fail(new HubError("request/invalid", message), session)
  }

  #fail(error: unknown, session?: string): void {
    const { code, message } =
      error instanceof HubError ? error : new HubError("store/failed", "the log cannot be read now")
    const about = session === undefined ? {} : { session }
    this.#tell(JSON.stringify({ ev: "error", ...about, error: { code, message } }))
  }
}

/** Tells of each frame that has left. */
function countedSink(sink: Sink, left: () => void): Sink {
  return {
    get bufferedAmount() {
      return sink.bufferedAmount
    },
    send: (frame, done) =>
      sink.send(frame, () => {
        left()
        done()
      }),
  }
}
