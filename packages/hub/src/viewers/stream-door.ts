import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { type RawData, type WebSocket, WebSocketServer } from "ws"
import type { Authority } from "../auth/authority.ts"
import { hasAccess } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import { refuseUpgrade } from "../http/refuse-upgrade.ts"
import { ReplyRoom } from "../http/reply-room.ts"
import type { Caller } from "../model/access.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import { frameText, socketSink } from "./outbox.ts"
import { StreamViewer, type StreamViewerOptions } from "./stream-viewer.ts"

export interface StreamDoorOptions extends Omit<StreamViewerOptions, "sink" | "cutOff" | "room" | "token"> {
  readonly authority: Authority
  readonly metrics: HubMetrics
  readonly maxViewers?: number
}

const MAX_VIEWERS = 5_000
/** What a viewer sends is short. */
const MAX_PAYLOAD_BYTES = 64 * 1024
const PING_MS = 30_000
const COME_BACK = 1012
const NOT_ALLOWED = 4001
const SIGN_IN = "sign in, or send a token in the Authorization header"

/** `/api/stream`: our own viewers. */
export class StreamDoor {
  readonly #options: StreamDoorOptions
  readonly #server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: MAX_PAYLOAD_BYTES })
  readonly #room = new ReplyRoom()
  readonly #sockets = new Map<WebSocket, { caller: Caller; isAlive: boolean }>()
  readonly #pings: ReturnType<typeof setInterval>
  readonly #stopListening: () => void

  constructor(options: StreamDoorOptions) {
    this.#options = options
    this.#pings = setInterval(() => this.#ping(), PING_MS)
    this.#pings.unref()
    this.#stopListening = options.authority.onEnded((isEnded) => {
      for (const [socket, { caller }] of this.#sockets) {
        if (isEnded(caller)) socket.close(NOT_ALLOWED, "signed out, or the token is no longer valid")
      }
    })
  }

  get count(): number {
    return this.#sockets.size
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const check = this.#options.authority.checkUpgrade(request)
    if (!check.ok) return refuseUpgrade(socket, check.error)
    const { caller } = check
    if (caller === null) return refuseUpgrade(socket, new HubError("auth/required", SIGN_IN))
    if (!hasAccess(caller.role, "viewer")) {
      return refuseUpgrade(socket, new HubError("auth/forbidden", `the role ${caller.role} may not watch`))
    }
    if (this.#sockets.size >= (this.#options.maxViewers ?? MAX_VIEWERS)) {
      return refuseUpgrade(socket, new HubError("hub/busy", "too many viewers are connected"))
    }
    this.#server.handleUpgrade(request, socket, head, (webSocket) => this.#welcome(webSocket, caller))
  }

  close(): void {
    clearInterval(this.#pings)
    this.#stopListening()
    for (const socket of this.#sockets.keys()) socket.close(COME_BACK, "the hub restarts")
  }

  #welcome(socket: WebSocket, caller: Caller): void {
    const { metrics } = this.#options
    const state = { caller, isAlive: true }
    this.#sockets.set(socket, state)
    metrics.viewerAttached("stream")
    const viewer = new StreamViewer({
      ...this.#options,
      sink: socketSink(socket, metrics),
      room: this.#room,
      token: caller.tokenId,
      cutOff: () => socket.terminate(),
    })
    socket.on("message", (data: RawData) => {
      for (const line of frameText(data).split("\n")) if (line.trim() !== "") viewer.take(line)
    })
    socket.on("pong", () => {
      state.isAlive = true
    })
    // `close` follows, and is where it is dealt with.
    socket.on("error", () => undefined)
    socket.on("close", () => {
      this.#sockets.delete(socket)
      metrics.viewerDetached("stream")
      viewer.close()
    })
  }

  /** A viewer that did not answer the last ping is gone without having said so. */
  #ping(): void {
    for (const [socket, state] of this.#sockets) {
      if (!state.isAlive) {
        socket.terminate()
        continue
      }
      state.isAlive = false
      socket.ping()
    }
  }
}
