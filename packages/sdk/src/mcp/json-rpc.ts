import type { JsonRpcMessage } from "@signalbox/protocol"

export type RpcId = string | number

/** What of a message matters for where it goes. */
export type RpcKind =
  | { readonly kind: "request"; readonly id: RpcId }
  | { readonly kind: "response"; readonly id: RpcId }
  | { readonly kind: "notification" }

/** Codes of JSON-RPC, and of the Model Context Protocol's own library for a connection that is gone. */
export const INTERNAL_ERROR = -32603
export const CONNECTION_CLOSED = -32000

export function kindOf(message: JsonRpcMessage): RpcKind {
  const { id } = message
  if (typeof id !== "string" && typeof id !== "number") return { kind: "notification" }
  return typeof message["method"] === "string" ? { kind: "request", id } : { kind: "response", id }
}

export function errorResponse(id: RpcId, code: number, message: string): JsonRpcMessage {
  return { jsonrpc: "2.0", id, error: { code, message } }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function paramsOf(message: JsonRpcMessage): Readonly<Record<string, unknown>> {
  const params = message["params"]
  return isRecord(params) ? params : {}
}

/** The token by which a request asks to be told of its progress. */
function progressTokenOf(message: JsonRpcMessage): RpcId | undefined {
  const meta = paramsOf(message)["_meta"]
  const token = isRecord(meta) ? meta["progressToken"] : undefined
  return typeof token === "string" || typeof token === "number" ? token : undefined
}

export function withParams(message: JsonRpcMessage, changed: Readonly<Record<string, unknown>>): JsonRpcMessage {
  return { ...message, params: { ...paramsOf(message), ...changed } }
}

function withProgressToken(message: JsonRpcMessage, progressToken: RpcId): JsonRpcMessage {
  const meta = paramsOf(message)["_meta"]
  return withParams(message, { _meta: { ...(isRecord(meta) ? meta : {}), progressToken } })
}

/** A request on its way through a server that several agents may share. */
export interface Call<User> {
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
export class Calls<User> {
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
