import type { IncomingMessage } from "node:http"
import { WebSocket } from "ws"
import { hasAccess } from "../auth/roles.ts"
import { unknown } from "../errors.ts"
import type { Route } from "../http/app.ts"
import type { Upgrade } from "../http/door.ts"
import type { HubCore } from "../hub-core.ts"
import { ACTOR, type Caller } from "../model/access.ts"
import type { AskRecord } from "../model/ask.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { ClientPort } from "./ask-view.ts"
import { FarClient } from "./far-client.ts"
import { RawClient } from "./raw-client.ts"
import { RelayFrontend, type RelayOptions } from "./relay.ts"
import { type Guest, SocketDoor } from "./socket-door.ts"
import { SseDoor } from "./sse-door.ts"

export interface ClientDoorsOptions extends RelayOptions {
  readonly core: HubCore
  /** A connection for a client of this session, at the hub that has it. Undefined: that is this one. */
  readonly dialElsewhere: ((session: string, caller: Caller) => Promise<WebSocket | undefined>) | undefined
}

/** Known by its path alone, on this machine alone. */
const ANONYMOUS: Caller = { role: "operator", name: ACTOR.anonymous, tokenId: "", sessionId: null }

/** All the doors for clients that are not our own viewers. */
export class ClientDoors {
  readonly #options: ClientDoorsOptions
  readonly #sockets: SocketDoor<LiveSession | WebSocket>
  /** `/ws`: frontends of plain relays, which auto-approve; this one does so only when an admin has switched it on. */
  readonly #relay: SocketDoor<undefined>
  /** Those that may answer, and so expect questions to be answered for them. */
  readonly #frontends = new Set<RelayFrontend>()
  /** Ends the watch for asks, which lasts as long as one of them is here. */
  #stopApproving: () => void = () => undefined
  readonly #sse: SseDoor
  readonly #end: () => void

  constructor(options: ClientDoorsOptions) {
    const { hub, anonymousRelay } = options
    this.#options = options
    this.#sockets = createSessionSocketDoor(options)
    this.#relay = new SocketDoor({
      hub,
      door: "relay",
      find: async () => undefined,
      anonymous: (_request, isLoopback) => (anonymousRelay && isLoopback ? ANONYMOUS : undefined),
      welcome: (visit) => this.#welcomeFrontend(visit),
    })
    this.#sse = new SseDoor(hub)
    const stopWatching = hub.desks.watch(hub.fanOut)
    // Event streams are the only clients that stay when a session is over.
    const stopEnding = hub.fanOut.watchAll({
      purged: (id) => this.#sse.gone(id),
      left: (id) => this.#sse.gone(id),
    })
    const stopListening = hub.authority.tokens.onEnded((tokenId) => hub.desks.forgetToken(tokenId))
    this.#end = () => {
      stopWatching()
      stopEnding()
      this.#stopApproving()
      stopListening()
    }
  }

  /** For the HTTP app: they go through its checks and into its description. Loaded with it, for their schemas take long. */
  async routes(): Promise<readonly Route[]> {
    const { hub, core } = this.#options
    const { directConnectRoutes, sseRoutes } = await import("./client-routes.ts")
    return [...sseRoutes(this.#sse), ...directConnectRoutes({ ...hub, core })]
  }

  /** How many clients are connected, by door. */
  get counts(): Readonly<Record<"session" | "relay" | "sse", number>> {
    return { session: this.#sockets.count, relay: this.#relay.count, sse: this.#sse.count }
  }

  /** Whether a WebSocket at this path is a client's. */
  handles(path: string): boolean {
    return path === "/ws" || PATH.test(path)
  }

  handleUpgrade(upgrade: Upgrade): void {
    const isRelay = pathOf(upgrade.request) === "/ws"
    if (isRelay) this.#relay.handleUpgrade(upgrade)
    else this.#sockets.handleUpgrade(upgrade)
  }

  sendAway(reason: string): void {
    for (const door of [this.#sockets, this.#relay]) door.sendAway(reason)
  }

  /** The hub goes down: everybody is told to come back. */
  close(): void {
    this.#end()
    this.#sockets.close()
    this.#relay.close()
    this.#sse.close()
  }

  #welcomeFrontend(visit: { caller: Caller; port: ClientPort }): Guest {
    const { hub } = this.#options
    const frontend = new RelayFrontend({ ...this.#options, ...visit })
    if (hasAccess(visit.caller.role, "operator")) this.#expect(frontend)
    for (const ask of hub.asks.pending()) this.#approve(ask)
    return {
      take: (line) => frontend.take(line),
      close: () => {
        this.#frontends.delete(frontend)
        if (this.#frontends.size === 0) this.#stopApproving()
        frontend.close()
      },
    }
  }

  #expect(frontend: RelayFrontend): void {
    this.#frontends.add(frontend)
    this.#stopApproving()
    this.#stopApproving = this.#options.hub.fanOut.watchAll({ asked: (ask) => this.#approve(ask) })
  }

  /** Only while somebody is here who expects it, only tools that no rule wants a person for, and as the audit shows. */
  #approve(ask: AskRecord): void {
    const { hub, isAutoApproving, trouble } = this.#options
    if (this.#frontends.size === 0 || !isAutoApproving()) return
    if (ask.state !== "pending" || ask.kind !== "tool" || ask.rule !== undefined) return
    hub.asks
      .answer(ask.id, { behavior: "allow" }, { by: ACTOR.relay, via: "policy" })
      .catch((error: unknown) => trouble("the relay could not approve", error))
  }
}

const PATH = /^\/ws\/session\/([^/]+)$/

/** `/ws/session/:id`: clients that speak the host's side of the wire to one session. */
function createSessionSocketDoor({ hub, dialElsewhere }: ClientDoorsOptions): SocketDoor<LiveSession | WebSocket> {
  return new SocketDoor({
    hub,
    door: "session",
    async find({ request, caller, isPassedOn }) {
      const id = decodeSegment(PATH.exec(pathOf(request))?.[1] ?? "")
      const far = isPassedOn ? undefined : await dialElsewhere?.(id, caller)
      if (far === undefined) return findSession(hub.registry, id)
      // The client may be gone before it is let in.
      if (request.socket.destroyed) far.close()
      request.socket.once("close", () => far.close())
      return far
    },
    welcome({ caller, port, place }) {
      if (place instanceof WebSocket) return new FarClient(place, port)
      if (place.isEnded) return turnAway(port)
      const client = new RawClient({ hub, session: place, caller, port, follows: true })
      client.showInProgress()
      return client
    },
  })
}

function turnAway(port: ClientPort): Guest {
  port.end(1000, "the session is over")
  return { take: () => Promise.resolve(), close: () => undefined }
}

/** An id means the newest session of its chain: the conversation, wherever it went on. */
async function findSession(registry: SessionRegistry, id: string): Promise<LiveSession> {
  const session = await registry.newestOf(id)
  if (session === undefined) throw unknown("session", id)
  return session
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function pathOf({ url = "/" }: IncomingMessage): string {
  return url.split("?", 1)[0] ?? "/"
}
