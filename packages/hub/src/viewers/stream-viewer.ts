import { isObject, textOf } from "@signalbox/protocol"
import type { HubCore, SessionView } from "../core.ts"
import { HubError } from "../errors.ts"
import type { Ask } from "../model/ask.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { Published } from "../session/pipeline.ts"
import type { FanOut } from "./fan-out.ts"
import { Outbox, type Sink } from "./outbox.ts"
import { askLine, changedLine, deltaLine, eventLine, framesOf } from "./stream-lines.ts"

export interface StreamViewerOptions {
  readonly sink: Sink
  readonly core: Pick<HubCore, "getSession" | "readEvents">
  readonly fanOut: FanOut
  readonly openAsks: (sessionId: string | undefined) => readonly Ask[]
  /** The sentence in progress, for somebody who arrives in its middle. */
  readonly inProgress: (sessionId: string) => readonly string[]
  /** Ends a viewer that reads nothing at all. */
  readonly cutOff?: () => void
  readonly metrics?: Pick<HubMetrics, "viewerLagged" | "replayCaughtUp">
  readonly maxWaitingChars?: number
  readonly maxSubscriptions?: number
}

/** `catching-up`: reads the log; what is published meanwhile will be read there. `live`: handed on as it comes. */
interface Subscription {
  phase: "catching-up" | "live" | "over"
  readonly end: () => void
}

const PAGE = 500
const MAX_SUBSCRIPTIONS = 10_000
const ALL = "*"

/** One viewer on `/api/stream`: any number of sessions on one socket, each at its own cursor. */
export class StreamViewer {
  readonly #options: StreamViewerOptions
  readonly #outbox: Outbox
  readonly #subscriptions = new Map<string, Subscription>()

  constructor(options: StreamViewerOptions) {
    this.#options = options
    this.#outbox = new Outbox({
      sink: options.sink,
      onOverflow: () => this.#lag(),
      ...(options.maxWaitingChars === undefined ? {} : { maxWaitingChars: options.maxWaitingChars }),
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
        return this.#outbox.control(`{"ev":"pong"}`)
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
  }

  #subscribe(session: string, after: unknown): void {
    if (after !== undefined && !(typeof after === "number" && Number.isInteger(after) && after >= 0)) {
      return this.#refuse("after is a seq: 0 or more", session)
    }
    if (this.#subscriptions.size >= (this.#options.maxSubscriptions ?? MAX_SUBSCRIPTIONS)) {
      return this.#refuse("too many subscriptions on one socket", session)
    }
    this.#unsubscribe(session)
    if (session === ALL) return this.#subscribeAll()
    let view: SessionView
    try {
      view = this.#options.core.getSession(session)
    } catch (error) {
      return this.#fail(error, session)
    }
    this.#begin(view, after)
  }

  #subscribeAll(): void {
    const end = this.#options.fanOut.watchAll({
      asked: (ask) => this.#outbox.control(askLine(ask)),
      changed: (view) => this.#outbox.control(changedLine(view)),
    })
    this.#subscriptions.set(ALL, { phase: "live", end })
    this.#outbox.control(`{"ev":"subscribed","session":"*","verdict":"ok","firstSeq":0,"lastSeq":0}`)
    for (const ask of this.#options.openAsks(undefined)) this.#outbox.control(askLine(ask))
  }

  #begin(view: SessionView, after: number | undefined): void {
    const { id, lastSeq } = view
    const subscription: Subscription = {
      phase: "catching-up",
      end: this.#options.fanOut.watch(id, {
        published: (_id, items) => this.#publish(id, subscription, items),
        asked: (ask) => this.#tellOnce(() => this.#outbox.control(askLine(ask))),
        changed: (changed) => this.#tellOnce(() => this.#outbox.control(changedLine(changed))),
      }),
    }
    this.#subscriptions.set(id, subscription)
    const start = after ?? lastSeq
    const verdict = start > lastSeq ? "gap" : "ok"
    const firstSeq = lastSeq === 0 ? 0 : 1
    this.#outbox.start(id, Math.min(start, lastSeq))
    const told = { ev: "subscribed", session: id, verdict, firstSeq, lastSeq }
    this.#outbox.control(JSON.stringify(told))
    this.#outbox.control(changedLine(view))
    for (const ask of this.#options.openAsks(id)) this.#outbox.control(askLine(ask))
    void this.#catchUp(id, subscription, Math.min(start, lastSeq))
  }

  /** Those who watch all hear of asks and changes once, not once more for each session they follow. */
  #tellOnce(tell: () => void): void {
    if (!this.#subscriptions.has(ALL)) tell()
  }

  async #catchUp(id: string, subscription: Subscription, after: number): Promise<void> {
    let cursor = after
    const begun = performance.now()
    const caughtUp = () => {
      this.#options.metrics?.replayCaughtUp({ events: cursor - after, seconds: (performance.now() - begun) / 1000 })
      this.#goLive(id, subscription)
    }
    try {
      while (subscription.phase === "catching-up") {
        // Checked and switched in one go: nothing can be published in between.
        if (cursor >= this.#options.core.getSession(id).lastSeq) return caughtUp()
        const before = cursor
        const { pieces } = await this.#options.core.readEvents(id, { after: cursor, limit: PAGE })
        for await (const events of pieces) {
          if (subscription.phase !== "catching-up") return
          this.#outbox.bulk(events.map((event) => ({ sessionId: id, text: eventLine(id, event), seq: event.seq })))
          cursor = events.at(-1)?.seq ?? cursor
          await this.#outbox.room()
        }
        if (subscription.phase === "catching-up" && cursor === before) return caughtUp()
      }
    } catch (error) {
      this.#fail(error, id)
      this.#unsubscribe(id)
    }
  }

  #goLive(id: string, subscription: Subscription): void {
    subscription.phase = "live"
    const lines = this.#options.inProgress(id)
    this.#outbox.bulk(lines.map((line) => ({ sessionId: id, text: deltaLine(id, line) })))
  }

  #publish(id: string, subscription: Subscription, items: readonly Published[]): void {
    if (subscription.phase !== "live") return
    // In one go: when it is too much all of it is dropped, and nothing comes after `lagged`.
    this.#outbox.bulk(
      framesOf(id, items).map(({ frame, seq }) =>
        seq === undefined ? { sessionId: id, frame } : { sessionId: id, frame, seq },
      ),
    )
  }

  /** Too much waits: what waits is dropped, and the viewer resumes from its cursor when it can. */
  #lag(): void {
    this.#options.metrics?.viewerLagged()
    const lagging = [...this.#subscriptions.keys()].filter((id) => id !== ALL)
    const told = lagging.map((session) => {
      const resumeAfter = this.#outbox.sentUpTo(session) ?? 0
      return JSON.stringify({ ev: "lagged", session, resumeAfter })
    })
    this.#outbox.dropBulk()
    for (const id of lagging) this.#unsubscribe(id)
    // What cannot be had again is too much by itself: it comes back and begins anew.
    if (this.#outbox.isFull) {
      this.close()
      return this.#options.cutOff?.()
    }
    for (const line of told) this.#outbox.control(line)
  }

  #unsubscribe(session: string): void {
    const subscription = this.#subscriptions.get(session)
    if (subscription === undefined) return
    subscription.phase = "over"
    subscription.end()
    this.#subscriptions.delete(session)
    this.#outbox.drop(session)
  }

  #refuse(message: string, session?: string): void {
    this.#fail(new HubError("request/invalid", message), session)
  }

  #fail(error: unknown, session?: string): void {
    const { code, message } =
      error instanceof HubError ? error : new HubError("store/failed", "the log cannot be read now")
    const about = session === undefined ? {} : { session }
    this.#outbox.control(JSON.stringify({ ev: "error", ...about, error: { code, message } }))
  }
}
