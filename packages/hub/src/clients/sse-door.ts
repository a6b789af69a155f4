import { randomUUID } from "node:crypto"
import { type Envelope, isObject, textOf } from "@signalbox/protocol"
import { normaliseFrontendMessage } from "@signalbox/protocol/dialects"
import { HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { StoredEvent } from "../model/event.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { ClientPort } from "./ask-view.ts"
import { type ClientHub, RawClient } from "./raw-client.ts"
import { SseStream } from "./sse-stream.ts"

/** The session, and the name that keeps a client's hooks and servers across reconnects. */
export interface ClientName {
  readonly id: string
  readonly client: string | undefined
}

const MAX_CLIENTS = 2_000
/** Who gives no name is one client per token, and does not come back after this long. */
const FORGET_MS = 600_000

/** `/v1/code/sessions/:id/events/stream` and `…/events`: official clients that stream events and post their own. */
export class SseDoor {
  readonly #hub: ClientHub
  readonly #clients = new Map<string, SseClient>()
  readonly #forgetting = new Map<string, ReturnType<typeof setTimeout>>()
  readonly #stopListening: () => void

  constructor(hub: ClientHub) {
    this.#hub = hub
    const stopTokens = hub.authority.tokens.onEnded((tokenId) => {
      for (const [key, client] of this.#clients) if (client.tokenId === tokenId) this.#drop(key, client)
    })
    // A browser that signs out ends its own streams: the client, which is the token's, may have others.
    const stopLogins = hub.authority.onEnded((isEnded) => {
      for (const client of this.#clients.values()) client.endStreams(isEnded)
    })
    this.#stopListening = () => {
      stopTokens()
      stopLogins()
    }
  }

  get count(): number {
    return this.#clients.size
  }

  close(): void {
    this.#stopListening()
    for (const [key, client] of this.#clients) this.#drop(key, client)
    for (const timer of this.#forgetting.values()) clearTimeout(timer)
    this.#forgetting.clear()
  }

  /** Streams of a session that was deleted for good, or is another hub's, end; who opens one again is told so. */
  gone(sessionId: string): void {
    for (const [key, client] of this.#clients) if (client.sessionId === sessionId) this.#drop(key, client)
  }

  /** The stream of one client, from its cursor on. */
  async open(request: Request, caller: Caller, { id, client }: ClientName): Promise<Response> {
    const session = await this.#hub.registry.get(id)
    const headers = { "content-type": "text/event-stream", "x-accel-buffering": "no", connection: "close" }
    if (request.method !== "GET") return new Response(null, { headers })
    const after = cursorOf(request.headers.get("last-event-id"))
    const isKnown = this.#clients.has(keyOf(session, caller, client))
    const body = this.#clientOf(session, caller, client).open({ caller, after, isBack: isKnown || after > 0 })
    return new Response(body, { headers })
  }

  /** A client's post: taken when it is safe, whatever comes of it. */
  async take(payloads: readonly unknown[], caller: Caller, { id, client }: ClientName): Promise<number> {
    const taker = this.#clientOf(await this.#hub.registry.get(id), caller, client)
    const messages = payloads.flatMap((payload) => messageIn(payload) ?? [])
    // One after the other would let a message wait for an answer that comes behind it.
    await Promise.all(messages.map((message) => taker.take(message)))
    return messages.length
  }

  #clientOf(session: LiveSession, caller: Caller, name: string | undefined): SseClient {
    const key = keyOf(session, caller, name)
    clearTimeout(this.#forgetting.get(key))
    this.#forgetting.delete(key)
    const known = this.#clients.get(key)
    if (known !== undefined) return known
    const hub = this.#hub
    const id = clientIdOf(caller, name)
    if (this.#clients.size >= MAX_CLIENTS || !hub.desks.of(session).hasRoomFor(id)) throw tooMany()
    const onAway = () => this.#away(key, client, name === undefined)
    const client: SseClient = new SseClient({ hub, session, caller, id, onAway })
    this.#clients.set(key, client)
    return client
  }

  #away(key: string, client: SseClient, isAnonymous: boolean): void {
    this.#drop(key, client)
    if (!isAnonymous) return
    const timer = setTimeout(() => {
      this.#forgetting.delete(key)
      client.forget()
    }, FORGET_MS)
    timer.unref()
    this.#forgetting.set(key, timer)
  }

  #drop(key: string, client: SseClient): void {
    if (this.#clients.get(key) === client) this.#clients.delete(key)
    client.close()
  }
}

function keyOf(session: LiveSession, caller: Caller, name: string | undefined): string {
  return JSON.stringify([session.id, clientIdOf(caller, name)])
}

/** A name belongs to its token: nobody else comes back under it. */
function clientIdOf({ tokenId }: Caller, name = ""): string {
  return `sse:${tokenId}:${name}`
}

function cursorOf(header: string | null): number {
  return header === null || !/^\d{1,15}$/.test(header) ? 0 : Number(header)
}

function messageIn(payload: unknown): Envelope | undefined {
  if (!isObject(payload) || typeof payload["type"] !== "string") return undefined
  return normaliseFrontendMessage({ ...payload, type: payload["type"] }, { newRequestId: randomUUID })
}

function tooMany(): HubError {
  return new HubError("hub/busy", "Too many clients are connected: try again in a moment", {
    details: { retryAfterSeconds: 5 },
  })
}

export interface SseClientOptions {
  readonly hub: ClientHub
  readonly session: LiveSession
  readonly caller: Caller
  readonly id: string
  /** It has no stream and was not heard of for a while. */
  readonly onAway: () => void
}

const AWAY_MS = 30_000
const MAX_STREAMS = 8
const MAX_SEEN = 4_096

/** One client of the event stream: the same one through all its reconnects, and through any number of streams. */
export class SseClient implements ClientPort {
  readonly #options: SseClientOptions
  readonly #raw: RawClient
  /** Each with whoever opened it: a browser that is signed in, or the bearer of the token. */
  readonly #streams = new Map<SseStream, Caller>()
  readonly #missed = new MissedLines()
  /** Its own messages, so that a repeat is the same and it does not see them. */
  readonly #seen = new Map<string, Promise<void>>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: SseClientOptions) {
    this.#options = options
    const { hub, session, caller, id } = options
    this.#raw = new RawClient({ hub, session, caller, id, isKept: !session.isEnded, port: this })
    this.#awaitReturn()
  }

  get tokenId(): string {
    return this.#raw.tokenId
  }

  get sessionId(): string {
    return this.#options.session.id
  }

  /** `isBack`: it was here before. What it may have missed and has no number is told again, where that is harmless. */
  open({ caller, after, isBack }: { caller: Caller; after: number; isBack: boolean }): ReadableStream<Uint8Array> {
    const { hub, session } = this.#options
    const [oldest] = this.#streams.keys()
    if (oldest !== undefined && this.#streams.size >= MAX_STREAMS) oldest.end()
    const stream = new SseStream({
      hub,
      session,
      client: this.#raw,
      share: hub.replyRoom.open(caller.tokenId),
      after,
      isOwn: (event) => this.#isOwn(event),
      onClosed: () => {
        this.#streams.delete(stream)
        hub.metrics.viewerDetached("sse")
        this.#awaitReturn()
      },
    })
    this.#streams.set(stream, caller)
    hub.metrics.viewerAttached("sse")
    clearTimeout(this.#timer)
    for (const line of this.#missed.take()) stream.tell(line)
    void this.#begin(stream, isBack)
    return stream.body
  }

  async #begin(stream: SseStream, isBack: boolean): Promise<void> {
    if (isBack) {
      this.#raw.tellCallsAgain()
      await this.#raw.showOpenAsks()
    }
    stream.start()
  }

  /** Resolves when it is safe. The same `uuid` again is the same message. */
  take(payload: Envelope): Promise<void> {
    this.#awaitReturn()
    const uuid = textOf(payload, "uuid")
    if (uuid === undefined) return this.#raw.takeMessage(payload)
    const known = this.#seen.get(uuid)
    if (known !== undefined) return known
    const taken = this.#raw.takeMessage(payload)
    this.#seen.set(uuid, taken)
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= MAX_SEEN) break
      this.#seen.delete(oldest)
    }
    // A failed one may be tried again.
    taken.catch(() => this.#seen.delete(uuid))
    return taken
  }

  endStreams(isEnded: (caller: Caller) => boolean): void {
    for (const [stream, caller] of this.#streams) if (isEnded(caller)) stream.end()
  }

  event(line: string, event: StoredEvent): void {
    for (const stream of this.#streams.keys()) stream.event(line, event)
  }

  delta(line: string, isSpeech: boolean): void {
    for (const stream of this.#streams.keys()) stream.delta(line, isSpeech)
  }

  ask(line: string): void {
    this.#missed.add(line, this.#streams.size > 0)
    for (const stream of this.#streams.keys()) stream.ask(line)
  }

  tell(line: string): void {
    this.#missed.add(line, this.#streams.size > 0)
    for (const stream of this.#streams.keys()) stream.tell(line)
  }

  /** The session is over. The stream stays: the client would only open it again. */
  end(): void {}

  /** It is away, or its token is not valid any more, or the hub goes down. What it brought stays. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#raw.close()
    for (const stream of this.#streams.keys()) stream.end()
    clearTimeout(this.#timer)
  }

  /** It does not come back: what it brought goes too. */
  forget(): void {
    this.#options.hub.desks.find(this.#raw.session)?.forget(this.#raw.id)
  }

  #isOwn(event: StoredEvent): boolean {
    return event.from === "client" && event.key !== undefined && this.#seen.has(event.key)
  }

  #awaitReturn(): void {
    clearTimeout(this.#timer)
    if (this.#streams.size > 0) return
    this.#timer = setTimeout(() => this.#options.onAway(), AWAY_MS)
    this.#timer.unref()
  }
}

const MAX_LINES = 200
const MAX_CHARS = 1024 * 1024

/**
 * Lines without a number that a client may have missed. A stream can be dead long before anybody notices, so replies and
 * cancels are told again to a client that comes back, which ignores those it knows; notes only if it was known to be away.
 * Questions and calls are not here: those that still wait for an answer are asked again by whoever waits.
 */
class MissedLines {
  readonly #repeatable: string[] = []
  #notes: string[] = []
  #chars = 0

  add(line: string, isHere: boolean): void {
    if (line.startsWith('{"type":"control_request"')) return
    if (line.startsWith('{"type":"control_')) this.#addRepeatable(line)
    else if (!isHere && this.#notes.length < MAX_LINES) this.#notes.push(line)
  }

  /** Notes are told once. */
  take(): readonly string[] {
    const notes = this.#notes
    this.#notes = []
    return [...this.#repeatable, ...notes]
  }

  #addRepeatable(line: string): void {
    this.#repeatable.push(line)
    this.#chars += line.length
    while (this.#repeatable.length > MAX_LINES || (this.#chars > MAX_CHARS && this.#repeatable.length > 1)) {
      this.#chars -= this.#repeatable.shift()?.length ?? 0
    }
  }
}
