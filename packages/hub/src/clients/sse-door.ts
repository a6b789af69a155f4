import { randomUUID } from "node:crypto"
import { type Envelope, isObject } from "@signalbox/protocol"
import { normaliseFrontendMessage } from "@signalbox/protocol/dialects"
import { HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { HubParts } from "./raw-client.ts"
import { SseClient } from "./sse-client.ts"

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
  readonly #hub: HubParts
  readonly #clients = new Map<string, SseClient>()
  readonly #forgetting = new Map<string, ReturnType<typeof setTimeout>>()
  readonly #stopListening: () => void

  constructor(hub: HubParts) {
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

  /** What a client posted: taken when it is safe, whatever comes of it. */
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
    if (isAnonymous) this.#forgetLater(key, client)
  }

  #forgetLater(key: string, client: SseClient): void {
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
