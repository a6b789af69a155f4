import { type IncomingMessage, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { COME_BACK, NOT_ALLOWED } from "@signalbox/transport"
import { type WebSocket, WebSocketServer } from "ws"
import type { Authority } from "../auth/authority.ts"
import { asHubError, type HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import { SECURITY_HEADERS } from "./reply.ts"

/** A socket that came in, as its door needs it. */
export interface Visitor {
  /** Undefined until it is known who it is. */
  readonly caller: Caller | undefined
  /** Cuts it off if it did not answer the last ping, and pings it again. */
  checkAlive(): void
  end(code: number, reason: string): unknown
}

export interface DoorOptions {
  readonly authority: Pick<Authority, "checkUpgrade" | "onEnded">
  readonly maxPayloadBytes: number
  /** Half-open connections are noticed after two of them. */
  readonly pingMs?: number
}

/** Somebody who asks to come in. `caller` is null without a credential. */
export interface Asking {
  readonly caller: Caller | null
  readonly loopback: boolean
}

export interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
  /** Another hub has let this caller in. */
  readonly vouchedFor?: Caller
}

const PING_MS = 30_000

/** Where WebSockets come in: checked before the upgrade, pinged, ended with their token, told to come back at the end. */
export class Door<V extends Visitor> {
  readonly #authority: DoorOptions["authority"]
  readonly #server: WebSocketServer
  readonly #visitors = new Set<V>()
  readonly #pings: NodeJS.Timeout
  readonly #stopListening: () => void

  constructor({ authority, maxPayloadBytes, pingMs = PING_MS }: DoorOptions) {
    this.#authority = authority
    this.#server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: maxPayloadBytes })
    this.#pings = setInterval(() => {
      for (const visitor of this.#visitors) visitor.checkAlive()
    }, pingMs)
    this.#pings.unref()
    this.#stopListening = authority.onEnded((isEnded) => {
      for (const visitor of this.#visitors) {
        const { caller } = visitor
        if (caller !== undefined && isEnded(caller))
          void visitor.end(NOT_ALLOWED, "signed out, or the token is no longer valid")
      }
    })
  }

  get count(): number {
    return this.#visitors.size
  }

  /** `check` says who it is, or throws the HubError that is told instead of the upgrade. */
  letIn<Who>(
    upgrade: Upgrade,
    check: (asking: Asking) => Who | Promise<Who>,
    enter: (socket: WebSocket, who: Who) => void,
  ): void {
    const { request, socket, vouchedFor } = upgrade
    const asking = vouchedFor
      ? { ok: true as const, caller: vouchedFor, loopback: false }
      : this.#authority.checkUpgrade(request)
    if (!asking.ok) return refuseSocket(socket, asking.error)
    const refuse = (error: unknown) => refuseSocket(socket, asHubError(error))
    const letIn = (who: Who) => this.admit(upgrade, (webSocket) => enter(webSocket, who))
    try {
      const who = check(asking)
      if (who instanceof Promise) who.then(letIn, refuse)
      else letIn(who)
    } catch (error) {
      refuse(error)
    }
  }

  /** Somebody who was checked already. */
  admit({ request, socket, head }: Upgrade, enter: (socket: WebSocket) => void): void {
    this.#server.handleUpgrade(request, socket, head, enter)
  }

  add(visitor: V): void {
    this.#visitors.add(visitor)
  }

  delete(visitor: V): void {
    this.#visitors.delete(visitor)
  }

  /** Everybody is told to come back. */
  sendAway(reason: string): void {
    for (const visitor of this.#visitors) void visitor.end(COME_BACK, reason)
  }

  /** The hub goes down. */
  close(): void {
    clearInterval(this.#pings)
    this.#stopListening()
    this.sendAway("the hub restarts")
  }
}

/** A socket that did not answer the last ping is gone without having said so; one that is not read cannot answer. */
export function alivenessOf(socket: WebSocket): () => void {
  let isAlive = true
  const heard = () => {
    isAlive = true
  }
  socket.on("pong", heard)
  socket.on("message", heard)
  return () => {
    if (!isAlive && !socket.isPaused) return socket.terminate()
    isAlive = false
    socket.ping()
  }
}

/** An HTTP error straight to a socket: instead of an upgrade, or of a reply to what is no HTTP. */
export function refuseSocket(
  socket: Duplex,
  { code, message, status, details = {} }: Pick<HubError, "code" | "message" | "status"> & Partial<HubError>,
): void {
  const body = JSON.stringify({ ...details, error: { code, message } })
  const { retryAfterSeconds } = details
  const headers = {
    ...SECURITY_HEADERS,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...(typeof retryAfterSeconds === "number" ? { "retry-after": String(retryAfterSeconds) } : {}),
  }
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  // The refused caller may be gone already.
  socket.on("error", () => undefined)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}\r\n${head.join("")}\r\n${body}`, () =>
    socket.destroy(),
  )
}
