import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import type { Authority } from "../auth/authority.ts"
import type { HubCore } from "../core.ts"
import type { ReplyRoom } from "../http/reply-room.ts"
import type { Route } from "../http/route.ts"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { EventLog } from "../store/event-log.ts"
import type { ClientHouse } from "./raw-client.ts"
import { RelayDoor } from "./relay-door.ts"
import type { SocketDoor } from "./socket-door.ts"
import { SseDoor } from "./sse-door.ts"
import { createSessionSocketDoor, isSessionSocket } from "./websocket-door.ts"

export interface ClientDoorsOptions {
  readonly house: ClientHouse
  readonly log: EventLog
  readonly core: HubCore
  readonly authority: Authority
  readonly metrics: HubMetrics
  readonly anonymousRelay: boolean
  readonly replyRoom: ReplyRoom
  readonly isAutoApproving: () => boolean
  readonly watchPolicy: (changed: () => void) => () => void
  readonly trouble: (what: string, error: unknown) => void
  /** For one client, before it is told to come back. */
  readonly maxWaitingChars?: number
  /** How long a client of the event stream is waited for before calls to it fail at once. */
  readonly awayMs?: number
}

/** All the doors for clients that are not our own viewers. */
export class ClientDoors {
  readonly #options: ClientDoorsOptions
  readonly #sockets: SocketDoor
  readonly #relay: RelayDoor
  readonly #sse: SseDoor
  readonly #end: () => void

  constructor(options: ClientDoorsOptions) {
    const { house, authority } = options
    this.#options = options
    this.#sockets = createSessionSocketDoor(options)
    this.#relay = new RelayDoor(options)
    this.#sse = new SseDoor(options)
    const stopWatching = house.fanOut.watchAll({ changed: (view) => house.desks.changed(view) })
    const stopListening = authority.tokens.onEnded((tokenId) => house.desks.forgetToken(tokenId))
    this.#end = () => {
      stopWatching()
      stopListening()
    }
  }

  /** For the HTTP app: they go through its checks and into its description. Loaded with it, for their schemas take long. */
  async routes(): Promise<readonly Route[]> {
    const { house, core, authority } = this.#options
    const [{ sseRoutes }, { directConnectRoutes }] = await Promise.all([
      import("./sse-routes.ts"),
      import("./direct-connect.ts"),
    ])
    return [...sseRoutes(this.#sse), ...directConnectRoutes({ registry: house.registry, core, authority })]
  }

  /** How many clients are connected, by door. */
  get counts(): Readonly<Record<"session" | "relay" | "sse", number>> {
    return { session: this.#sockets.count, relay: this.#relay.count, sse: this.#sse.count }
  }

  /** Whether a WebSocket at this path is a client's. */
  handles(path: string): boolean {
    return path === "/ws" || isSessionSocket(path)
  }

  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const isRelay = /^\/ws(?:\?|$)/.test(request.url ?? "")
    if (isRelay) this.#relay.handleUpgrade(request, socket, head)
    else this.#sockets.handleUpgrade(request, socket, head)
  }

  /** The hub goes down: everybody is told to come back. */
  close(): void {
    this.#end()
    this.#sockets.close()
    this.#relay.close()
    this.#sse.close()
  }
}
