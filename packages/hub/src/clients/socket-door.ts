import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import { COME_BACK, NOT_ALLOWED } from "@signalbox/transport"
import type { WebSocket } from "ws"
import { factsOfMessage } from "../auth/authority.ts"
import { hasAccess } from "../auth/roles.ts"
import { asHubError, HubError } from "../errors.ts"
import { type Asking, Door, type Upgrade, type Visitor } from "../http/door.ts"
import type { Caller } from "../model/access.ts"
import { ClientSocket, MAX_LINE_BYTES } from "./client-socket.ts"
import type { ClientHub } from "./raw-client.ts"

/** The guest that came through the door, once it is known who. */
export interface Guest {
  take(line: string): Promise<void>
  close(): void
  /** Looks after a connection of its own, beside the client's. */
  readonly checkAlive?: () => void
}

/** Somebody who is known, on the way in. */
export interface Arrival {
  readonly caller: Caller
  readonly request: IncomingMessage
  /** Another hub passes the client on. */
  readonly isPassedOn: boolean
}

export interface SocketDoorOptions<Place> {
  readonly hub: Pick<ClientHub, "authority" | "metrics">
  /** Its name among the doors, for the metrics. */
  readonly door: string
  /** Who somebody without a credential is here; undefined when one is needed. */
  readonly anonymous?: (request: IncomingMessage, isLoopback: boolean) => Caller | undefined
  /** Throws a HubError when there is nothing here for this caller. */
  readonly welcome: (visit: { caller: Caller; port: ClientSocket; place: Place }) => Guest
  /** The place at this path: looked up before the upgrade for a caller with a credential, so that a failure is an HTTP error. */
  readonly find: (arrival: Arrival) => Promise<Place>
}

/** A client that is connected. `guest` and `caller` are there once it is known who it is. */
interface Client extends Visitor {
  readonly socket: ClientSocket
  guest: Guest | undefined
  caller: Caller | undefined
  /** Its first line says who it is; those after it wait until it is let in. */
  admitting: Promise<void> | undefined
}

/** A caller, and what is at the path that it asks for. */
interface Known<Place> {
  readonly caller: Caller
  readonly place: Place
}

const MAX_CLIENTS = 2_000
/** Bounds for clients that have shown no token yet: they take nobody's place, and a token needs no more room. */
const MAX_STRANGERS = 500
const MAX_STRANGER_BYTES = 256 * 1024
const AUTH_MS = 5_000

/**
 * A door for clients that may not be able to send a header: a token in the header or the cookie is looked at before the
 * upgrade, and otherwise the first line must bring one, soon.
 */
export class SocketDoor<Place> {
  readonly #options: SocketDoorOptions<Place>
  readonly #door: Door<Client>
  readonly #strangers = new Set<Client>()

  constructor(options: SocketDoorOptions<Place>) {
    this.#options = options
    this.#door = new Door({ authority: options.hub.authority, maxPayloadBytes: MAX_LINE_BYTES })
  }

  get count(): number {
    return this.#door.count
  }

  handleUpgrade(upgrade: Upgrade): void {
    const { request, socket, vouchedFor } = upgrade
    this.#door.letIn(
      upgrade,
      (asking) => this.#check(request, asking, vouchedFor !== undefined),
      (webSocket, known) => {
        const client = this.#enter(webSocket, request)
        if (known === undefined) return this.#watchStranger(client, socket)
        client.admitting = Promise.resolve()
        this.#welcome(client, known)
      },
    )
  }

  /** The hub goes down: clients are told to come back. */
  close(): void {
    this.#door.close()
  }

  sendAway(reason: string): void {
    this.#door.sendAway(reason)
  }

  /** Undefined: who it is will be told by its first line. */
  async #check(request: IncomingMessage, asking: Asking, isPassedOn: boolean): Promise<Known<Place> | undefined> {
    const { anonymous } = this.#options
    const caller = asking.caller ?? anonymous?.(request, asking.loopback)
    if (this.#door.count >= MAX_CLIENTS) throw new HubError("hub/busy", "too many clients are connected")
    const known = caller && (await this.#find({ request, caller, isPassedOn }))
    if (caller === undefined && this.#strangers.size >= MAX_STRANGERS) {
      throw new HubError("hub/busy", "too many clients without a token are connected")
    }
    return known
  }

  async #find(arrival: Arrival): Promise<Known<Place>> {
    requireViewer(arrival.caller)
    return { caller: arrival.caller, place: await this.#options.find(arrival) }
  }

  /** Until it is known who it is, little is taken from it. */
  #watchStranger(client: Client, socket: Duplex): void {
    let bytes = 0
    const count = (chunk: Buffer) => {
      bytes += chunk.length
      if (client.guest !== undefined) socket.off("data", count)
      else if (bytes > MAX_STRANGER_BYTES) socket.destroy()
    }
    this.#strangers.add(client)
    socket.on("data", count)
  }

  #enter(webSocket: WebSocket, request: IncomingMessage): Client {
    const { hub, door } = this.#options
    const timer = setTimeout(() => {
      if (client.admitting === undefined) socket.end(NOT_ALLOWED, "no token came within 5 s")
    }, AUTH_MS)
    timer.unref()
    const socket = new ClientSocket({
      socket: webSocket,
      metrics: hub.metrics,
      onLine: async (line) => {
        if (client.admitting === undefined) client.admitting = this.#admit(client, request, line)
        else if (client.guest !== undefined) await client.guest.take(line)
        else await client.admitting.then(() => client.guest?.take(line))
      },
      onClosed: () => {
        clearTimeout(timer)
        this.#door.delete(client)
        this.#strangers.delete(client)
        client.guest?.close()
        if (client.caller !== undefined) hub.metrics.viewerDetached(door)
      },
    })
    const client: Client = {
      socket,
      guest: undefined,
      caller: undefined,
      admitting: undefined,
      checkAlive: () => {
        socket.checkAlive()
        client.guest?.checkAlive?.()
      },
      end: (code, reason) => socket.end(code, reason),
    }
    this.#door.add(client)
    return client
  }

  async #admit(client: Client, request: IncomingMessage, line: string): Promise<void> {
    try {
      const caller = await this.#identify(line, request)
      const known = await this.#find({ request, caller, isPassedOn: false })
      if (this.#strangers.has(client)) this.#welcome(client, known)
    } catch (error) {
      const { status, message } = asHubError(error)
      client.end(status === 503 ? COME_BACK : NOT_ALLOWED, message)
    }
  }

  #welcome(client: Client, { caller, place }: Known<Place>): void {
    const { hub, door, welcome } = this.#options
    client.caller = caller
    this.#strangers.delete(client)
    hub.metrics.viewerAttached(door)
    try {
      client.guest = welcome({ caller, port: client.socket, place })
    } catch (error) {
      client.end(NOT_ALLOWED, asHubError(error).message)
    }
  }

  /** The bearer of the token in an `auth` line. Failures are counted as those to sign in are. */
  async #identify(line: string, request: IncomingMessage): Promise<Caller> {
    const { authority } = this.#options.hub
    const token = tokenIn(line)
    const caller = token === undefined ? undefined : await authority.identifyToken(token)
    if (caller === undefined)
      throw authority.loginFailure(factsOfMessage(request), "the first line must bring a valid token")
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
