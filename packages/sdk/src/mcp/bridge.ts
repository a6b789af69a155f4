import type { JsonRpcMessage } from "@signalbox/protocol"
import { deferred } from "@signalbox/transport/pacing"
import { fieldOf } from "../base/wire.ts"
import type { McpServerInstance } from "../types/mcp.ts"

export interface McpBridgeOptions {
  /** The agent's name for the server; for messages of errors. */
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

type RpcId = string | number

/** The parts of a message that decide where it goes. */
type RpcKind =
  | { readonly kind: "request"; readonly id: RpcId }
  | { readonly kind: "response"; readonly id: RpcId }
  | { readonly kind: "notification" }

/** Codes of JSON-RPC, and of the Model Context Protocol's own library for a connection that is gone. */
const INTERNAL_ERROR = -32603
const CONNECTION_CLOSED = -32000

function kindOf(message: JsonRpcMessage): RpcKind {
  const { id } = message
  if (typeof id !== "string" && typeof id !== "number") return { kind: "notification" }
  return typeof message["method"] === "string" ? { kind: "request", id } : { kind: "response", id }
}

function errorResponse(id: RpcId, code: number, message: string): JsonRpcMessage {
  return { jsonrpc: "2.0", id, error: { code, message } }
}

function paramsOf(message: JsonRpcMessage): Readonly<Record<string, unknown>> {
  return fieldOf(message, "params") ?? {}
}

/** The token by which a request asks to be told of its progress. */
function progressTokenOf(message: JsonRpcMessage): RpcId | undefined {
  const token = fieldOf(message["params"], "_meta")?.["progressToken"]
  return typeof token === "string" || typeof token === "number" ? token : undefined
}

function withParams(message: JsonRpcMessage, changed: Readonly<Record<string, unknown>>): JsonRpcMessage {
  return { ...message, params: { ...paramsOf(message), ...changed } }
}

function withProgressToken(message: JsonRpcMessage, progressToken: RpcId): JsonRpcMessage {
  return withParams(message, { _meta: { ...fieldOf(message["params"], "_meta"), progressToken } })
}

/** A request on its way through a server that several agents may share. */
interface Call<User> {
  readonly user: User
  /** The ids under which the agent knows it. */
  readonly id: RpcId
  readonly token: RpcId | undefined
  readonly settle: (response: JsonRpcMessage) => void
}

interface Entry<User> extends Call<User> {
  readonly ownToken: RpcId | undefined
}

/**
 * The calls that a server has not answered yet. Each agent counts its requests from 0, so that two on one server would
 * use the same ids; an id that is taken is replaced on the way in and restored on the way out.
 */
class Calls<User> {
  readonly #calls = new Map<RpcId, Entry<User>>()
  readonly #tokens = new Map<RpcId, Entry<User>>()
  #replaced = 0

  /** Notes a call and returns it as the server is to see it. */
  add(request: JsonRpcMessage, call: Omit<Call<User>, "token">): JsonRpcMessage {
    const token = progressTokenOf(request)
    const ownId = this.#calls.has(call.id) ? this.#fresh() : call.id
    const ownToken = token !== undefined && this.#tokens.has(token) ? this.#fresh() : token
    const entry = { ...call, token, ownToken }
    this.#calls.set(ownId, entry)
    if (ownToken === undefined) return { ...request, id: ownId }
    this.#tokens.set(ownToken, entry)
    return withProgressToken({ ...request, id: ownId }, ownToken)
  }

  /** Hands a response to whoever waits for it; one nobody waits for is let go. */
  settle(ownId: RpcId, response: JsonRpcMessage): void {
    const entry = this.#remove(ownId)
    entry?.settle({ ...response, id: entry.id })
  }

  /** Who made the call with this id of ours. */
  userOf(ownId: RpcId | undefined): User | undefined {
    return ownId === undefined ? undefined : this.#calls.get(ownId)?.user
  }

  /** A report of progress belongs to one call, and carries the token that its agent gave. */
  progress(message: JsonRpcMessage): { user: User; message: JsonRpcMessage } | undefined {
    const { progressToken } = paramsOf(message)
    if (typeof progressToken !== "string" && typeof progressToken !== "number") return undefined
    const entry = this.#tokens.get(progressToken)
    if (entry === undefined) return undefined
    return { user: entry.user, message: withParams(message, { progressToken: entry.token }) }
  }

  /** The id that the server knows a call of this user by, if it is open. */
  ownIdOf(user: User, id: unknown): RpcId | undefined {
    for (const [ownId, entry] of this.#calls) if (entry.user === user && entry.id === id) return ownId
    return undefined
  }

  /** Settles what is open: of one user, or of all. */
  settleAll(response: (id: RpcId) => JsonRpcMessage, user?: User): void {
    for (const [ownId, entry] of this.#calls)
      if (user === undefined || entry.user === user) this.settle(ownId, response(entry.id))
  }

  #remove(ownId: RpcId): Entry<User> | undefined {
    const entry = this.#calls.get(ownId)
    this.#calls.delete(ownId)
    if (entry?.ownToken !== undefined) this.#tokens.delete(entry.ownToken)
    return entry
  }

  #fresh(): string {
    return `signalbox-${++this.#replaced}`
  }
}
