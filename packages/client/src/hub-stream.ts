import { API_ERRORS, readStreamLine, type StreamLine, type StreamOperation } from "@signalbox/protocol/hub-api"
import { type Backoff, backoffMs } from "@signalbox/protocol/timing"
import { createSocket, sendsHeaders } from "#websocket"
import { abortedError, closedError, HubClientError } from "./errors.ts"
import { Feed, Follower, type FollowItem, type FollowOptions } from "./follower.ts"
import type { HubAddress, HubAddresses, Rest } from "./rest.ts"
import { NORMAL_CLOSE, REFUSED_CLOSE, type Socket } from "./socket.ts"

export interface HubStreamOptions {
  readonly addresses: HubAddresses
  readonly rest: Rest
  readonly backoff: Backoff
  /** How often the hub is asked for a sign of life. */
  readonly pingMs: number
  readonly maxWaitingChars: number
  readonly onRetry: ((tries: number) => void) | undefined
}

type Link =
  /** Nobody follows anything. */
  | { readonly name: "idle" }
  /** On the way to a connection: signing in, dialling, or finding out why it failed. */
  | { readonly name: "connecting"; readonly socket?: Socket }
  | { readonly name: "open"; readonly socket: Socket; readonly stopBeating: () => void }
  | { readonly name: "waiting"; readonly cancel: () => void }
  | { readonly name: "closed" }

/** So many pings without a sign of life, and the hub is taken for gone. */
const PATIENCE_BEATS = 3

interface SocketEnd {
  readonly code: number
  readonly reason: string
  readonly wasOpen: boolean
}

/** Everything that is followed, over one socket that comes back by itself. */
export class HubStream {
  readonly #options: HubStreamOptions
  readonly #feeds = new Map<string, Feed>()
  #link: Link = { name: "idle" }
  /** Events of an earlier link are not listened to. */
  #generation = 0
  #failures = 0
  /** Where the link leads, or led. */
  #at = ""
  #whyLost = ""
  #unansweredBeats = 0

  constructor(options: HubStreamOptions) {
    this.#options = options
  }

  follow(key: string, how: FollowOptions): Follower {
    if (this.#link.name === "closed") throw closedError()
    const feed = this.#feeds.get(key) ?? new Feed(key, (operation) => this.#send(operation))
    this.#feeds.set(key, feed)
    const follower = new Follower({
      ...how,
      maxWaitingChars: this.#options.maxWaitingChars,
      onCaughtUp: () => this.#subscribe(feed),
      onEnded: (gone) => this.#leave(feed, gone),
    })
    feed.followers.add(follower)
    if (this.#failures > 0) follower.take({ type: "disconnected", reason: this.#whyLost }, 0)
    if (how.signal?.aborted === true) follower.items.abandon(abortedError(how.signal))
    else if (this.#link.name === "idle") void this.#connect()
    else this.#subscribe(feed)
    return follower
  }

  /** Instead of waiting for the next try. */
  retryNow(): void {
    if (this.#link.name !== "waiting") return
    this.#link.cancel()
    this.#again()
  }

  close(): void {
    this.#drop({ name: "closed" })
    for (const feed of this.#feeds.values()) feed.end()
  }

  #leave(feed: Feed, follower: Follower): void {
    feed.followers.delete(follower)
    if (feed.followers.size > 0 || this.#feeds.get(feed.key) !== feed) return
    feed.unsubscribe()
    this.#forget(feed)
    // An open socket would keep a program from ending.
    if ([...this.#feeds.values()].every(({ followers }) => followers.size === 0)) this.#drop({ name: "idle" })
  }

  /** Not before the hub has confirmed what we asked: the next reader would take the old confirmation for its own. */
  #forget(feed: Feed): void {
    if (feed.followers.size === 0 && !feed.isAwaiting) this.#feeds.delete(feed.key)
  }

  #subscribe(feed: Feed): void {
    if (this.#link.name === "open" && this.#feeds.get(feed.key) === feed) feed.subscribe()
  }

  #send(operation: StreamOperation): void {
    if (this.#link.name === "open") this.#link.socket.send(`${JSON.stringify(operation)}\n`)
  }

  /** Never rejects. */
  async #connect(): Promise<void> {
    const generation = ++this.#generation
    this.#link = { name: "connecting" }
    let address: HubAddress
    try {
      address = this.#options.addresses.now()
      this.#at = address.http
      const { token } = address
      if (!sendsHeaders && token !== undefined) await this.#options.rest.route("POST /api/login", { body: { token } })
    } catch (error) {
      if (generation === this.#generation) this.#failedToConnect(error)
      return
    }
    if (generation !== this.#generation) return
    const isCurrent = () => generation === this.#generation
    let wasOpen = false
    try {
      const socket: Socket = createSocket(`${address.webSocket}/api/stream`, address.token, {
        onOpen: () => {
          wasOpen = true
          if (isCurrent()) this.#opened(socket)
        },
        onText: (text) => {
          if (isCurrent()) this.#read(text)
        },
        onClose: (code, reason) => {
          if (isCurrent()) void this.#lost({ code, reason, wasOpen })
        },
      })
      this.#link = { name: "connecting", socket }
    } catch (error) {
      // A browser may refuse the address itself.
      this.#failedToConnect(error)
    }
  }

  #opened(socket: Socket): void {
    this.#unansweredBeats = 0
    const timer = setInterval(() => this.#beat(), this.#options.pingMs)
    this.#link = { name: "open", socket, stopBeating: () => clearInterval(timer) }
    for (const feed of this.#feeds.values()) feed.subscribe()
  }

  /** Counted in beats, not by the clock: after a machine slept, or this program was busy, what arrived is read first. */
  #beat(): void {
    if (this.#unansweredBeats === PATIENCE_BEATS) return this.#retry("the hub is silent")
    this.#unansweredBeats++
    this.#send({ op: "ping" })
    for (const feed of this.#feeds.values()) if (feed.beat(PATIENCE_BEATS)) void this.#findOut(feed)
  }

  /** A subscription that is not confirmed: does the session exist, for us? */
  async #findOut(feed: Feed): Promise<void> {
    const generation = this.#generation
    const error = await this.#refusal(feed.key)
    if (generation !== this.#generation) return
    if (error === undefined) return this.#retry("the hub does not confirm a subscription")
    feed.end(error)
  }

  async #lost(end: SocketEnd): Promise<void> {
    const isRefused = end.code === REFUSED_CLOSE
    const reason = describeEnd(end)
    if (end.wasOpen && !isRefused) return this.#retry(reason)
    // Why a connection was refused is told to nobody; a plain call gets a plain answer.
    this.#drop({ name: "connecting" })
    const generation = this.#generation
    const error = await this.#refusal("*")
    if (generation !== this.#generation) return
    if (error !== undefined) this.#fail(error)
    else if (isRefused)
      this.#fail(new HubClientError("client/refused", `the hub closed the stream for good: ${reason}`))
    else this.#retry(reason)
  }

  /** Why the hub does not let us follow this, if coming back would not mend it. */
  async #refusal(key: string): Promise<HubClientError | undefined> {
    const { rest } = this.#options
    const once = { repeatable: false }
    try {
      if (key === "*") await rest.route("GET /api/me", once)
      else await rest.route("GET /api/sessions/:id", { params: { id: key }, ...once })
      return undefined
    } catch (error) {
      return isForGood(error) ? error : undefined
    }
  }

  #failedToConnect(error: unknown): void {
    if (isForGood(error)) this.#fail(error)
    else this.#retry(error instanceof Error ? error.message : String(error))
  }

  #fail(error: HubClientError): void {
    this.#drop({ name: "idle" })
    for (const feed of this.#feeds.values()) feed.end(error)
  }

  #retry(reason: string): void {
    const { addresses, backoff } = this.#options
    addresses.failed(this.#at)
    // A round of all addresses takes as long as one try where there is only one.
    const delayMs = backoffMs(backoff, Math.ceil(++this.#failures / addresses.count), Math.random()) / addresses.count
    const timer = setTimeout(() => this.#again(), delayMs)
    this.#drop({ name: "waiting", cancel: () => clearTimeout(timer) })
    this.#whyLost = reason
    // Told once, not at every try.
    if (this.#failures > 1) return
    for (const feed of this.#feeds.values()) feed.note({ type: "disconnected", reason }, 0)
  }

  #again(): void {
    this.#options.onRetry?.(this.#failures)
    void this.#connect()
  }

  /** Lets go of what the link holds and takes the next one. */
  #drop(next: Link): void {
    const link = this.#link
    if (link.name === "closed") return
    this.#generation++
    this.#link = next
    if (next.name === "idle") this.#failures = 0
    if (link.name === "waiting") link.cancel()
    if (link.name === "connecting") link.socket?.abandon()
    if (link.name === "open") {
      link.stopBeating()
      if (next.name === "waiting") link.socket.abandon()
      else link.socket.close(NORMAL_CLOSE, "no longer needed")
    }
    for (const feed of this.#feeds.values()) {
      feed.reset()
      this.#forget(feed)
    }
  }

  #read(text: string): void {
    this.#unansweredBeats = 0
    for (const line of text.split("\n")) {
      if (line.trim() === "") continue
      const message = readStreamLine(line)
      if (message === undefined) return this.#retry("the hub sent something that is no line of its stream")
      this.#route(message, line.length)
    }
  }

  #route(line: StreamLine, chars: number): void {
    if (line.ev === "pong" || line.ev === "unknown") return
    const feed = this.#feeds.get(line.session)
    switch (line.ev) {
      case "subscribed":
        this.#failures = 0
        feed?.confirmed(line.subscribed)
        if (feed !== undefined) this.#forget(feed)
        return
      case "event":
        return feed?.event(line.event, chars)
      case "delta":
        return feed?.delta({ type: "delta", message: line.message }, chars)
      case "ask":
        return this.#note(feed, { type: "ask", ask: line.ask }, chars)
      case "changed":
        return this.#note(feed, { type: "changed", session: line.record }, chars)
      case "read":
        return this.#feeds.get("*")?.note({ type: "read", sessionId: line.session, seq: line.seq }, chars)
      case "purged":
        return this.#feeds.get("*")?.note({ type: "purged", sessionId: line.session }, chars)
      case "lagged":
        if (feed !== undefined) this.#subscribe(feed)
        return
      case "error":
        // Another hub may show it, or this one later.
        if (PASSING.has(line.code)) return this.#retry(line.message ?? "the hub cannot show the session now")
        feed?.refused(refusalOf(line))
        if (feed !== undefined) this.#forget(feed)
        return
    }
  }

  #note(feed: Feed | undefined, item: FollowItem, chars: number): void {
    feed?.note(item, chars)
    this.#feeds.get("*")?.note(item, chars)
  }
}

function refusalOf({ code = "client/refused", message }: Extract<StreamLine, { ev: "error" }>): HubClientError {
  const status = Object.entries(API_ERRORS).find(([known]) => known === code)?.[1]
  return new HubClientError(code, message ?? "the hub refused the subscription", { status })
}

function describeEnd({ code, reason, wasOpen }: SocketEnd): string {
  if (reason !== "") return reason
  return wasOpen ? `the connection ended with code ${code}` : "the hub cannot be reached"
}

const PASSING: ReadonlySet<string | undefined> = new Set(["hub/unreachable", "hub/moved", "store/failed"])

/** The hub knows us not, or the session not: asking again changes nothing. */
function isForGood(error: unknown): error is HubClientError {
  if (!(error instanceof HubClientError)) return false
  return error.status === 401 || error.status === 403 || error.status === 404 || error.code === "client/closed"
}
