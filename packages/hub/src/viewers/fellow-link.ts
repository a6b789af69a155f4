import { isObject, textOf } from "@signalbox/protocol"
import { parseObject } from "@signalbox/protocol/envelope"
import type { Session } from "@signalbox/protocol/hub-api"
import { frameText, Waker } from "@signalbox/transport"
import type { RawData, WebSocket } from "ws"
import { HubError, refusalIn } from "../errors.ts"
import type { Ask } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import { MessageInProgress, type Published } from "../session/history.ts"
import { FanOut } from "./fan-out.ts"
import type { FoundSession, WatchedSession } from "./stream-viewer.ts"

type Json = Readonly<Record<string, unknown>>

export interface FellowLinkOptions {
  readonly url: string
  readonly dial: () => WebSocket
  /** Tells those who watch all sessions. */
  readonly fanOut: FanOut
  /** All that the other hub has was told, after the connection was lost, too: this was known before, and not told again. */
  readonly onCaughtUp: (missed: Known) => void
  /** The other hub did not let it in. */
  readonly onRefused: () => void
}

/** Sessions that have not ended, and open asks. */
export interface Known {
  readonly sessions: ReadonlySet<string>
  readonly asks: ReadonlySet<string>
}

/** How long somebody waits for the other hub before they are told that it cannot be reached. */
const WAIT_MS = 5_000
/** Looks without a word from the other hub, which answers each: it is gone without having said so. */
const MAX_SILENT_LOOKS = 4
/** Looks without a viewer, and the session is no longer followed. */
const MAX_IDLE_LOOKS = 5

/** The stream of another hub: its asks and changes, and the sessions that people watch here. It comes back by itself. */
export class FellowLink {
  readonly #options: FellowLinkOptions
  readonly #followed = new Map<string, Followed>()
  /** As far as the other hub has told of them. */
  #sessions = new Set<string>()
  #asks = new Map<string, Ask>()
  /** The same from before the connection was lost, until all was told anew. */
  #before: Known = { sessions: new Set(), asks: new Set() }
  #socket: WebSocket | undefined
  #isUp = false
  #isOver = false
  #silentLooks = 0
  readonly #change = new Waker()

  constructor(options: FellowLinkOptions) {
    this.#options = options
    this.#dial()
  }

  get isIdle(): boolean {
    return this.#followed.size === 0
  }

  /** What it has told of, and is not known to be over. */
  get known(): Known {
    const { sessions, asks } = this.#before
    return {
      sessions: new Set([...sessions, ...this.#sessions]),
      asks: new Set([...asks, ...this.#asks.keys()]),
    }
  }

  has(session: string): boolean {
    return this.#sessions.has(session)
  }

  *openAsks(session: string | undefined): Iterable<Ask> {
    for (const ask of this.#asks.values()) if (session === undefined || ask.sessionId === session) yield ask
  }

  /** The session as the other hub has it: from here on what is said in it is told to those who watch. */
  async follow(id: string): Promise<FoundSession> {
    const signal = AbortSignal.timeout(WAIT_MS)
    const late = () => new HubError("hub/unreachable", `The hub at ${this.#options.url} cannot be reached.`)
    while (!this.#isUp) {
      if (this.#isOver || signal.aborted) throw late()
      await this.#wait(signal)
    }
    const followed = this.#followed.get(id) ?? new Followed(id)
    if (this.#followed.get(id) !== followed) {
      this.#followed.set(id, followed)
      this.#send({ op: "subscribe", session: id })
    }
    while (!followed.isReady) {
      if (followed.gone !== undefined) throw followed.gone
      if (signal.aborted) throw late()
      await this.#wait(signal)
    }
    return { session: followed, fanOut: followed.fanOut }
  }

  /** Where people hear of the session: those who watch all, and those who follow it over this link. */
  fanOutsOf(session: string): readonly FanOut[] {
    const { fanOut } = this.#options
    const followed = this.#followed.get(session)
    return followed === undefined ? [fanOut] : [fanOut, followed.fanOut]
  }

  /** About once a second: dials anew, notices an end that was not told, and lets go of sessions that nobody watches. */
  look(): void {
    if (this.#socket === undefined) return this.#dial()
    this.#silentLooks += 1
    if (this.#silentLooks > MAX_SILENT_LOOKS) return this.#socket.terminate()
    if (this.#isUp) this.#send({ op: "ping" })
    for (const [id, followed] of this.#followed) {
      if (followed.isUnwatched()) this.#unfollow(id, followed)
    }
  }

  close(): void {
    this.#isOver = true
    this.#socket?.terminate()
    this.#lost()
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const wake = () => this.#change.wake()
    signal.addEventListener("abort", wake, { once: true })
    await this.#change.wait()
    signal.removeEventListener("abort", wake)
  }

  #dial(): void {
    if (this.#isOver) return
    const socket = this.#options.dial()
    this.#socket = socket
    this.#silentLooks = 0
    socket.on("open", () => {
      this.#isUp = true
      this.#send({ op: "subscribe", session: "*" })
      this.#change.wake()
    })
    socket.on("message", (data: RawData) => {
      if (this.#socket !== socket) return
      this.#silentLooks = 0
      for (const line of frameText(data).split("\n")) if (line !== "") this.#take(line)
    })
    socket.on("unexpected-response", () => this.#options.onRefused())
    // `close` follows, and is where it is dealt with.
    socket.on("error", () => undefined)
    socket.on("close", () => {
      if (this.#socket === socket) this.#lost()
    })
  }

  /** Those who watch come back with their cursors, and find the session wherever it is by then. */
  #lost(): void {
    this.#socket = undefined
    this.#isUp = false
    this.#before = this.known
    this.#sessions = new Set()
    this.#asks = new Map()
    for (const [id, followed] of this.#followed) this.#left(id, followed)
    this.#change.wake()
  }

  #left(
    id: string,
    followed: Followed,
    refusal = new HubError("hub/moved", `session ${id} went to another hub`),
  ): void {
    this.#followed.delete(id)
    followed.leave(refusal)
    this.#change.wake()
  }

  #unfollow(id: string, followed: Followed): void {
    this.#send({ op: "unsubscribe", session: id })
    this.#left(id, followed)
  }

  #send(operation: Json): void {
    this.#socket?.send(`${JSON.stringify(operation)}\n`)
  }

  #take(text: string): void {
    const line = parseObject(text) ?? {}
    const { ev, session } = line
    if (ev === "event" || ev === "delta") this.#publish(String(session), line, text)
    else if (ev === "ask" && isObject(line["ask"])) this.#takeAsk(line["ask"])
    else if (ev === "changed" && isObject(line["record"])) this.#takeView(line["record"])
    else if (ev === "all") this.#caughtUp()
    else if (typeof session === "string") this.#takeWord(session, line)
  }

  #publish(id: string, line: Json, text: string): void {
    const followed = this.#followed.get(id)
    if (followed === undefined) return
    followed.take(publishedIn(line, text))
  }

  #takeAsk(told: Json): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a fellow hub wrote it, as this one does
    const ask = told as unknown as Ask
    if (ask.state === "pending") this.#asks.set(ask.id, ask)
    else this.#asks.delete(ask.id)
    for (const fanOut of this.fanOutsOf(ask.sessionId)) fanOut.asked(ask)
  }

  #takeView(told: Json): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a fellow hub wrote it, as this one does
    const view = told as unknown as Session
    if (view.state === "ended") this.#sessions.delete(view.id)
    else this.#sessions.add(view.id)
    this.#followed.get(view.id)?.takeView(view)
    this.#change.wake()
    for (const fanOut of this.fanOutsOf(view.id)) fanOut.changed(view)
  }

  #takeWord(session: string, line: Json): void {
    const { fanOut } = this.#options
    const followed = this.#followed.get(session)
    switch (line["ev"]) {
      case "subscribed":
        followed?.begin(Number(line["lastSeq"]))
        return this.#change.wake()
      case "read":
        return fanOut.read({ person: String(line["person"]), sessionId: session, seq: Number(line["seq"]) })
      case "purged":
        this.#sessions.delete(session)
        for (const each of this.fanOutsOf(session)) each.purged(session)
        return
      case "left":
        this.#sessions.delete(session)
        for (const { id } of this.openAsks(session)) this.#asks.delete(id)
        return
      // It reads too slowly here, or the session is elsewhere: whoever watches asks for it again.
      case "lagged":
        return followed && this.#left(session, followed)
      case "error":
        return followed && this.#left(session, followed, refusalOf(line))
      default:
    }
  }

  /** All that the other hub has now was told. */
  #caughtUp(): void {
    const { sessions, asks } = this.#before
    this.#before = { sessions: new Set(), asks: new Set() }
    this.#options.onCaughtUp({
      sessions: new Set([...sessions].filter((id) => !this.#sessions.has(id))),
      asks: new Set([...asks].filter((id) => !this.#asks.has(id))),
    })
  }
}

/**
 * A session of another hub, as far as its stream has come. Whoever watches it hears of it from this hub alone: the next one that has it
 * may already tell of events that follow those which are still on their way from this one.
 */
class Followed implements WatchedSession {
  readonly id: string
  readonly fanOut = new FanOut()
  readonly inProgress = new MessageInProgress()
  readonly record = { lastSeq: 0 }
  gone: HubError | undefined
  #view: Session | undefined
  #isBegun = false
  #idleLooks = 0

  constructor(id: string) {
    this.id = id
  }

  /** Its changes are told to those who watch all, too: without `subscribed` they say nothing about where its events begin. */
  get isReady(): boolean {
    return this.#isBegun && this.#view !== undefined
  }

  view(): Session {
    if (this.#view === undefined) throw new Error(`session ${this.id} was not told of yet`)
    return { ...this.#view, lastSeq: this.record.lastSeq }
  }

  begin(lastSeq: number): void {
    this.record.lastSeq = lastSeq
    this.#isBegun = true
  }

  leave(why: HubError): void {
    this.gone = why
    this.fanOut.left(this.id)
  }

  takeView(view: Session): void {
    this.#view = view
    if (view.state === "ended" || view.state === "disconnected") this.inProgress.clear()
  }

  take(item: Published): void {
    if (item.kind === "delta") this.inProgress.take(item.message, item.line)
    else {
      this.record.lastSeq = item.event.seq
      if (item.event.from === "agent" && item.message.type === "result") this.inProgress.clear()
    }
    this.fanOut.published(this.id, [item])
  }

  isUnwatched(): boolean {
    this.#idleLooks = this.fanOut.countOf(this.id) === 0 ? this.#idleLooks + 1 : 0
    return this.isReady && this.#idleLooks >= MAX_IDLE_LOOKS
  }
}

const MESSAGE = ',"message":'

/** As the agent wrote it, to the last byte. */
function publishedIn(line: Json, text: string): Published {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a fellow hub wrote it, as this one does
  const message = line["message"] as Published["message"]
  // A quote in a text before it would have a backslash.
  const own = text.slice(text.indexOf(MESSAGE) + MESSAGE.length, text.lastIndexOf("}"))
  if (line["ev"] === "delta") return { kind: "delta", line: own, message }
  const by = textOf(line, "by")
  const event: StoredEvent = {
    seq: Number(line["seq"]),
    at: Date.parse(String(line["at"])),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a fellow hub wrote it, as this one does
    from: line["from"] as StoredEvent["from"],
    line: own,
    ...(by === undefined ? {} : { by }),
  }
  return { kind: "event", event, message }
}

/** A newer hub may have codes that this one does not know. */
function refusalOf({ error }: Json): HubError {
  return refusalIn({ error }) ?? new HubError("hub/unreachable", textOf(error, "message") ?? "")
}
