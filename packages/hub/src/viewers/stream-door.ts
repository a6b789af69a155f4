import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { fitCloseReason, frameText } from "@signalbox/transport"
import type { RawData, WebSocket } from "ws"
import type { Authority } from "../auth/authority.ts"
import { hasAccess } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import { alivenessOf, Door, type Upgrade, type Visitor } from "../http/door.ts"
import { ReplyRoom } from "../http/reply.ts"
import type { Caller } from "../model/access.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import { socketSink } from "./fan-out.ts"
import { StreamViewer, type StreamViewerOptions } from "./stream-viewer.ts"

type Shared = "core" | "tellOpenAsks" | "find" | "fanOuts"

export interface StreamDoorOptions extends Pick<StreamViewerOptions, Shared> {
  readonly authority: Authority
  readonly metrics: HubMetrics
  /** The same for hubs that follow this one: of its own sessions alone. */
  readonly own: Pick<StreamViewerOptions, "tellOpenAsks" | "find" | "fanOuts" | "forFellow">
  /** Somebody has come. */
  readonly onEntered?: (() => void) | undefined
}

const MAX_VIEWERS = 5_000
/** A viewer's messages are short. */
const MAX_PAYLOAD_BYTES = 64 * 1024

/** `/api/stream`: our own viewers. */
export class StreamDoor {
  readonly #options: StreamDoorOptions
  readonly #door: Door<Visitor>
  readonly #fellows: Door<Visitor>
  readonly #room = new ReplyRoom()

  constructor(options: StreamDoorOptions) {
    this.#options = options
    const { authority } = options
    this.#door = new Door({ authority, maxPayloadBytes: MAX_PAYLOAD_BYTES })
    this.#fellows = new Door({ authority, maxPayloadBytes: MAX_PAYLOAD_BYTES })
  }

  get count(): number {
    return this.#door.count
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#door.letIn(
      { request, socket, head },
      ({ caller }) => this.#check(caller),
      (webSocket, caller) => {
        const { core, tellOpenAsks, find, fanOuts, metrics, onEntered } = this.#options
        const about = { token: caller.tokenId, person: caller.name, metrics }
        this.#welcome(webSocket, this.#door, caller, { core, tellOpenAsks, find, fanOuts, ...about })
        onEntered?.()
      },
    )
  }

  /** A hub on the same store, as its secret has shown. */
  admitFellow(upgrade: Upgrade): void {
    const { core, own } = this.#options
    const person = { person: "", token: "another hub" }
    this.#fellows.admit(upgrade, (socket) =>
      this.#welcome(socket, this.#fellows, undefined, { core, ...own, ...person }),
    )
  }

  /** Viewers look for another hub. */
  sendAway(reason: string): void {
    for (const door of [this.#door, this.#fellows]) door.sendAway(reason)
  }

  close(): void {
    for (const door of [this.#door, this.#fellows]) door.close()
  }

  #check(caller: Caller | null): Caller {
    if (caller === null) throw new HubError("auth/required", "sign in, or send a token in the Authorization header")
    if (!hasAccess(caller.role, "viewer")) {
      throw new HubError("auth/forbidden", `the role ${caller.role} may not watch`)
    }
    if (this.#door.count >= MAX_VIEWERS) throw new HubError("hub/busy", "too many viewers are connected")
    return caller
  }

  #welcome(socket: WebSocket, door: Door<Visitor>, caller: Caller | undefined, about: About): void {
    const { metrics } = this.#options
    const visitor = {
      caller,
      checkAlive: alivenessOf(socket),
      end: (code: number, reason: string) => socket.close(code, fitCloseReason(reason)),
    }
    const kind = caller === undefined ? "hub" : "stream"
    door.add(visitor)
    metrics.viewerAttached(kind)
    const cutOff = () => socket.terminate()
    const viewer = new StreamViewer({ ...about, sink: socketSink(socket, metrics), room: this.#room, cutOff })
    socket.on("message", (data: RawData) => {
      for (const line of frameText(data).split("\n")) if (line.trim() !== "") viewer.take(line)
    })
    // `close` follows, and is where it is dealt with.
    socket.on("error", () => undefined)
    socket.on("close", () => {
      door.delete(visitor)
      metrics.viewerDetached(kind)
      viewer.close()
    })
  }
}

type About = Omit<StreamViewerOptions, "sink" | "room" | "cutOff">
