import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { frameText } from "@signalbox/transport"
import type { RawData, WebSocket } from "ws"
import type { Authority } from "../auth/authority.ts"
import { hasAccess } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import { alivenessOf, Door, type Visitor } from "../http/door.ts"
import { ReplyRoom } from "../http/reply.ts"
import type { Caller } from "../model/access.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import { socketSink } from "./fan-out.ts"
import { StreamViewer, type StreamViewerOptions } from "./stream-viewer.ts"

export interface StreamDoorOptions extends Omit<StreamViewerOptions, "sink" | "cutOff" | "room" | "token" | "person"> {
  readonly authority: Authority
  readonly metrics: HubMetrics
}

const MAX_VIEWERS = 5_000
/** A viewer's messages are short. */
const MAX_PAYLOAD_BYTES = 64 * 1024

/** `/api/stream`: our own viewers. */
export class StreamDoor {
  readonly #options: StreamDoorOptions
  readonly #door: Door<Visitor>
  readonly #room = new ReplyRoom()

  constructor(options: StreamDoorOptions) {
    this.#options = options
    this.#door = new Door({ authority: options.authority, maxPayloadBytes: MAX_PAYLOAD_BYTES })
  }

  get count(): number {
    return this.#door.count
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#door.letIn(
      { request, socket, head },
      ({ caller }) => this.#check(caller),
      (webSocket, caller) => this.#welcome(webSocket, caller),
    )
  }

  /** Viewers look for another hub. */
  sendAway(reason: string): void {
    this.#door.sendAway(reason)
  }

  close(): void {
    this.#door.close()
  }

  #check(caller: Caller | null): Caller {
    if (caller === null) throw new HubError("auth/required", "sign in, or send a token in the Authorization header")
    if (!hasAccess(caller.role, "viewer")) {
      throw new HubError("auth/forbidden", `the role ${caller.role} may not watch`)
    }
    if (this.#door.count >= MAX_VIEWERS) throw new HubError("hub/busy", "too many viewers are connected")
    return caller
  }

  #welcome(socket: WebSocket, caller: Caller): void {
    const { metrics } = this.#options
    const checkAlive = alivenessOf(socket)
    const visitor = { caller, checkAlive, end: (code: number, reason: string) => socket.close(code, reason) }
    this.#door.add(visitor)
    metrics.viewerAttached("stream")
    const viewer = new StreamViewer({
      ...this.#options,
      sink: socketSink(socket, metrics),
      room: this.#room,
      token: caller.tokenId,
      person: caller.name,
      cutOff: () => socket.terminate(),
    })
    socket.on("message", (data: RawData) => {
      for (const line of frameText(data).split("\n")) if (line.trim() !== "") viewer.take(line)
    })
    // `close` follows, and is where it is dealt with.
    socket.on("error", () => undefined)
    socket.on("close", () => {
      this.#door.delete(visitor)
      metrics.viewerDetached("stream")
      viewer.close()
    })
  }
}
