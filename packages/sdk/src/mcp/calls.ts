import type { JsonRpcMessage } from "@signalbox/protocol"
import { paramsOf, progressTokenOf, type RpcId, withParams, withProgressToken } from "./json-rpc.ts"

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
