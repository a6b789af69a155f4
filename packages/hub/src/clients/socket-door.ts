import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import { type WebSocket, WebSocketServer } from "ws"
import type { Authority } from "../auth/authority.ts"
import { factsOfMessage } from "../auth/request-facts.ts"
import { hasAccess } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import { refuseUpgrade } from "../http/refuse-upgrade.ts"
import type { Caller } from "../model/access.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { ClientPort } from "./client-lines.ts"
import { asHubError } from "./client-lines.ts"
import { ClientSocket, MAX_LINE_BYTES } from "./client-socket.ts"

/** Whoever came through the door, once it is known who. */
export interface Guest {
  take(line: string): Promise<void>
  close(): void
}

export interface SocketDoorOptions {
  readonly authority: Authority
  /** Its name among the doors, for the metrics. */
  readonly door: string
  readonly metrics: HubMetrics
  /** Who somebody without a credential is here; undefined when one is needed. */
  readonly anonymous?: (request: IncomingMessage, isLoopback: boolean) => Caller | undefined
  /** Throws a HubError when there is nothing here for this caller. */
  readonly welcome: (visit: { caller: Caller; port: ClientPort; path: string }) => Guest
  /** As `welcome`, before the upgrade, so that whoever shows a credential with it gets an HTTP error. */
  readonly check: (path: string) => void
  readonly maxClients?: number
  readonly maxWaitingChars?: number
}

interface Visitor {
  readonly socket: ClientSocket
  guest: Guest | undefined
  caller: Caller | undefined
}

const MAX_CLIENTS = 2_000
/** Bounds for clients that have shown no token yet: they take nobody's place, and a token needs no more room. */
const MAX_STRANGERS = 500
const MAX_STRANGER_BYTES = 256 * 1024
const AUTH_MS = 5_000
const PING_MS = 30_000
const COME_BACK = 1012
const NOT_ALLOWED = 4001

/**
 * A door for clients that may not be able to send a header: a token in the header or the cookie is looked at before the
 * upgrade, and otherwise the first line must bring one, soon.
 */
export class SocketDoor {
  readonly #options: SocketDoorOptions
  readonly #server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: MAX_LINE_BYTES })
  readonly #visitors = new Set<Visitor>()
  readonly #strangers = new Set<Visitor>()
  readonly #pings: ReturnType<typeof setInterval>
  readonly #stopListening: () => void

  constructor(options: SocketDoorOptions) {
    this.#options = options
    this.#pings = setInterval(() => {
      for (const { socket } of this.#visitors) socket.checkAlive()
    }, PING_MS)
    this.#pings.unref()
    this.#stopListening = options.authority.onEnded((isEnded) => {
      for (const { caller, socket } of this.#visitors) {
        if (caller !== undefined && isEnded(caller))
          socket.end(NOT_ALLOWED, "signed out, or the token is no longer valid")
      }
    })
  }

  get count(): number {
    return this.#visitors.size
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { authority, anonymous, check, maxClients = MAX_CLIENTS } = this.#options
    const verdict = authority.checkUpgrade(request)
    if (!verdict.ok) return refuseUpgrade(socket, verdict.error)
    const caller = verdict.caller ?? anonymous?.(request, verdict.loopback)
    const path = pathOf(request)
    if (caller !== undefined) {
      try {
        requireViewer(caller)
        check(path)
      } catch (error) {
        return refuseUpgrade(socket, asHubError(error))
      }
    }
    if (this.#visitors.size >= maxClients) {
      return refuseUpgrade(socket, new HubError("hub/busy", "too many clients are connected"))
    }
    if (caller === undefined && this.#strangers.size >= MAX_STRANGERS) {
      return refuseUpgrade(socket, new HubError("hub/busy", "too many clients without a token are connected"))
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => {
      const visitor = this.#enter(webSocket, request, caller)
      if (caller === undefined) this.#watchStranger(visitor, socket)
    })
  }

  /** The hub goes down: clients are told to come back. */
  close(): void {
    clearInterval(this.#pings)
    this.#stopListening()
    for (const { socket } of this.#visitors) socket.end(COME_BACK, "the hub restarts")
  }

  /** Until it is known who it is, little is taken from it. */
  #watchStranger(visitor: Visitor, socket: Duplex): void {
    let bytes = 0
    const count = (chunk: Buffer) => {
      bytes += chunk.length
      if (visitor.guest !== undefined) socket.off("data", count)
      else if (bytes > MAX_STRANGER_BYTES) socket.destroy()
    }
    this.#strangers.add(visitor)
    socket.on("data", count)
  }

  #enter(webSocket: WebSocket, request: IncomingMessage, caller: Caller | undefined): Visitor {
    const { maxWaitingChars, metrics, door } = this.#options
    const timer = setTimeout(() => visitor.socket.end(NOT_ALLOWED, "no token came within 5 s"), AUTH_MS)
    timer.unref()
    const visitor: Visitor = {
      guest: undefined,
      caller: undefined,
      socket: new ClientSocket({
        socket: webSocket,
        metrics,
        ...(maxWaitingChars === undefined ? {} : { maxWaitingChars }),
        onLine: async (line) => {
          if (visitor.guest !== undefined) return visitor.guest.take(line)
          clearTimeout(timer)
          this.#admit(visitor, request, () => this.#identify(line, request))
        },
        onClosed: () => {
          clearTimeout(timer)
          this.#visitors.delete(visitor)
          this.#strangers.delete(visitor)
          visitor.guest?.close()
          if (visitor.caller !== undefined) metrics.viewerDetached(door)
        },
      }),
    }
    this.#visitors.add(visitor)
    if (caller === undefined) return visitor
    clearTimeout(timer)
    this.#admit(visitor, request, () => caller)
    return visitor
  }

  #admit(visitor: Visitor, request: IncomingMessage, identify: () => Caller): void {
    try {
      const caller = identify()
      visitor.caller = caller
      this.#strangers.delete(visitor)
      this.#options.metrics.viewerAttached(this.#options.door)
      visitor.guest = this.#options.welcome({ caller, port: visitor.socket, path: pathOf(request) })
    } catch (error) {
      visitor.socket.end(NOT_ALLOWED, asHubError(error).message)
    }
  }

  /** The bearer of the token in an `auth` line. Failures are counted as those to sign in are. */
  #identify(line: string, request: IncomingMessage): Caller {
    const { authority } = this.#options
    const token = tokenIn(line)
    const caller = token === undefined ? undefined : authority.identifyToken(token)
    if (caller === undefined)
      throw authority.loginFailure(factsOfMessage(request), "the first line must bring a valid token")
    requireViewer(caller)
    return caller
  }
}

function requireViewer(caller: Caller): void {
  if (hasAccess(caller.role, "viewer")) return
  throw new HubError("auth/forbidden", `the role ${caller.role} may not watch or steer`)
}

function tokenIn(line: string): string | undefined {
  try {
    const message: unknown = JSON.parse(line)
    if (!isObject(message) || message["type"] !== "auth") return undefined
    return textOf(fieldOf(message, "credential"), "token")
  } catch {
    return undefined
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "/").split("?", 1)[0] ?? "/"
}
