import type { JsonRpcMessage } from "@signalbox/protocol"
import { deferred } from "@signalbox/transport/pacing"
import type { McpServerInstance } from "../types/mcp.ts"
import {
  Calls,
  CONNECTION_CLOSED,
  errorResponse,
  INTERNAL_ERROR,
  kindOf,
  paramsOf,
  type RpcId,
  withParams,
} from "./json-rpc.ts"

export interface McpBridgeOptions {
  /** What the agent calls the server; for messages of errors. */
  readonly name: string
  /** Anything with `connect(transport)`. */
  readonly server: McpServerInstance
  /** Takes what the server says of its own accord. */
  readonly sendToAgent: (message: JsonRpcMessage) => void | Promise<void>
}

/** A server of this process as an agent sees it. */
export interface McpBridge {
  /** A message of the agent's. Resolves with the response to a request, and with undefined to anything else. Never rejects. */
  receive(message: JsonRpcMessage): Promise<JsonRpcMessage | undefined>
  /** Settles what is open and disconnects the server, unless another bridge uses it. */
  close(): Promise<void>
}

export function createMcpBridge({ name, server, sendToAgent }: McpBridgeOptions): McpBridge {
  const connection = connectionTo(server)
  let isClosed = false
  const closed = deferred<void>()
  const user: ConnectionUser = { deliver: (message) => (isClosed ? undefined : sendToAgent(message)) }

  const ask = async (message: JsonRpcMessage, id: RpcId): Promise<JsonRpcMessage> => {
    const gone = () => errorResponse(id, CONNECTION_CLOSED, `The MCP server "${name}" is closed`)
    if (isClosed) return gone()
    try {
      await Promise.race([connection.join(user), closed.promise])
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return errorResponse(id, INTERNAL_ERROR, `The MCP server "${name}" cannot be connected: ${reason}`)
    }
    return isClosed ? gone() : connection.request(user, message, id)
  }

  return {
    async receive(message) {
      const what = kindOf(message)
      if (what.kind === "request") return ask(message, what.id)
      // Told once the server is connected, in the order of arrival; nobody waits for it, and nobody is told if it fails.
      if (!isClosed)
        void connection.join(user).then(
          () => connection.tell(user, message),
          () => undefined,
        )
      return undefined
    },
    async close() {
      if (isClosed) return
      isClosed = true
      closed.resolve()
      connection.leave(user)
    },
  }
}

/** An agent's end of a connection. */
interface ConnectionUser {
  deliver(message: JsonRpcMessage): void | Promise<void>
}

/** The transport that a server is handed: the members that the protocol's own interface asks for. */
interface ServerTransport {
  start(): Promise<void>
  send(message: JsonRpcMessage, options?: { relatedRequestId?: RpcId }): Promise<void>
  close(): Promise<void>
  onmessage?: (message: JsonRpcMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
}

type State =
  | { readonly kind: "closed" }
  | { readonly kind: "open"; readonly transport: ServerTransport; readonly opened: Promise<void> }

const CLOSED = "The connection to the MCP server is closed"

/** A server object takes one connection at a time, and programs hand the same one to several queries: they share it. */
const connections = new WeakMap<McpServerInstance, ServerConnection>()

function connectionTo(server: McpServerInstance): ServerConnection {
  let connection = connections.get(server)
  if (connection === undefined) {
    connection = new ServerConnection(server)
    connections.set(server, connection)
  }
  return connection
}

/** One connection to a server of this process, for as many agents as use it. It lasts as long as one of them does. */
class ServerConnection {
  readonly #server: McpServerInstance
  readonly #users = new Set<ConnectionUser>()
  readonly #calls = new Calls<ConnectionUser>()
  #state: State = { kind: "closed" }

  constructor(server: McpServerInstance) {
    this.#server = server
  }

  /** Connects the server unless it is; rejects with what its `connect` says. */
  async join(user: ConnectionUser): Promise<void> {
    this.#users.add(user)
    const state = this.#state.kind === "open" ? this.#state : this.#open()
    await state.opened
    if (!this.#users.has(user)) throw new Error(CLOSED)
  }

  /** Asks the server; resolves with its response, at the latest with an error when the user leaves. */
  request(user: ConnectionUser, request: JsonRpcMessage, id: RpcId): Promise<JsonRpcMessage> {
    return new Promise((settle) => this.#hand(this.#calls.add(request, { user, id, settle })))
  }

  /** Tells the server something that it does not answer: a notification, or the answer to a request of its own. */
  tell(user: ConnectionUser, message: JsonRpcMessage): void {
    const ownId =
      message["method"] === "notifications/cancelled"
        ? this.#calls.ownIdOf(user, paramsOf(message)["requestId"])
        : undefined
    this.#hand(ownId === undefined ? message : withParams(message, { requestId: ownId }))
    // Servers do not answer a call that was given up, and whoever waits for the answer must not wait for ever.
    if (ownId !== undefined)
      this.#calls.settle(ownId, errorResponse(ownId, CONNECTION_CLOSED, "The call was cancelled"))
  }

  /** Settles what the user waits for; the last one to leave disconnects the server, so that it can be used again. */
  leave(user: ConnectionUser): void {
    if (!this.#users.delete(user)) return
    this.#calls.settleAll((id) => errorResponse(id, CONNECTION_CLOSED, CLOSED), user)
    if (this.#users.size === 0) this.#disconnect()
  }

  #open(): State & { kind: "open" } {
    const transport = this.#transport()
    // `connect` may throw at once, reject, or never end; whoever waits for it is settled by leaving.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server's own type of a transport is not known here
    const opened = (async () => this.#server.connect(transport as never))()
    const state = { kind: "open", transport, opened } as const
    this.#state = state
    opened.catch(() => {
      if (this.#state === state) this.#state = { kind: "closed" }
    })
    return state
  }

  #transport(): ServerTransport {
    const transport: ServerTransport = {
      start: async () => undefined,
      send: async (message, options) => {
        if (this.#state.kind !== "open" || this.#state.transport !== transport) return
        await this.#route(message, options?.relatedRequestId)
      },
      // A server that hangs up by itself leaves nobody waiting, and is connected anew by the next message.
      close: async () => {
        if (this.#state.kind === "open" && this.#state.transport === transport) this.#disconnect()
      },
    }
    return transport
  }

  #disconnect(): void {
    const state = this.#state
    this.#state = { kind: "closed" }
    this.#calls.settleAll((id) => errorResponse(id, CONNECTION_CLOSED, CLOSED))
    if (state.kind !== "open") return
    try {
      state.transport.onclose?.()
    } catch {
      // The server's own affair: for us it is gone.
    }
  }

  #hand(message: JsonRpcMessage): void {
    if (this.#state.kind !== "open") return this.#calls.settleAll((id) => errorResponse(id, CONNECTION_CLOSED, CLOSED))
    try {
      this.#state.transport.onmessage?.(message)
    } catch (error) {
      this.#state.transport.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
  }

  async #route(message: JsonRpcMessage, relatedId: RpcId | undefined): Promise<void> {
    const what = kindOf(message)
    if (what.kind === "response") return this.#calls.settle(what.id, message)
    const related = this.#calls.userOf(relatedId)
    if (what.kind === "request") {
      const user = related ?? this.#users.values().next().value
      if (user === undefined) throw new Error(CLOSED)
      return user.deliver(message)
    }
    const progress = this.#calls.progress(message)
    const targets = progress === undefined ? (related === undefined ? [...this.#users] : [related]) : [progress.user]
    // Servers notify without waiting, so that a rejection would be nobody's: an agent that is gone is not told.
    await Promise.allSettled(targets.map(async (user) => user.deliver(progress?.message ?? message)))
  }
}
