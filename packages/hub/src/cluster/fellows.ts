import { isObject, textOf } from "@signalbox/protocol"
import { API_ERRORS, type ApiErrorCode } from "@signalbox/protocol/hub-api"
import { WebSocket } from "ws"
import { HubError, reasonOf } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { ClusterSecret } from "./cluster-secret.ts"
import { dialFellow } from "./fellow-socket.ts"

export interface FellowCall {
  readonly method: string
  /** Behind `/cluster`. */
  readonly path: string
  readonly body?: unknown
  /** On whose behalf. */
  readonly caller?: Caller
  readonly accept?: string
  readonly signal?: AbortSignal
}

type Place = Readonly<{ url: string }>
type Known = Readonly<{ id: string; url: string }>

export const CALLER_HEADER = "x-signalbox-caller"
const HANDSHAKE_MS = 5_000
const MAX_ERROR_CHARS = 64 * 1024
const CONNECT_CODES: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  // Its packets get lost: the time for a connection was over.
  "UND_ERR_CONNECT_TIMEOUT",
])

/** Calls to other hubs on the same store. */
export class Fellows {
  readonly #secret: Pick<ClusterSecret, "current" | "load">
  /** Connections that last, by the hub that they go to. */
  readonly #lasting = new Map<string, Set<WebSocket>>()

  constructor(secret: Pick<ClusterSecret, "current" | "load">) {
    this.#secret = secret
  }

  /** The reply as it is, whatever its status. Fails with `hub/unreachable` if it never got there, and with `hub/moved` if nobody knows what became of it. */
  async fetch(fellow: Place, call: FellowCall, timeoutMs: number): Promise<Response> {
    const reply = await this.#send(fellow, call, timeoutMs)
    if (reply.status !== 401) return reply
    // The caller is vouched for, so it is the secret that the fellow does not take: another hub has replaced it.
    await this.#secret.load()
    const again = await this.#send(fellow, call, timeoutMs)
    if (again.status === 401) throw unreachable(fellow.url, new Error("it does not take this hub's secret"))
    return again
  }

  /** A WebSocket that lasts until somebody closes it, or the other hub is dead. Fails with the other hub's own refusal, or with `hub/unreachable`. */
  async dial(fellow: Known, path: string, caller: Caller): Promise<WebSocket> {
    const url = `${fellow.url.replace(/^http/, "ws")}/cluster${path}`
    const open = () =>
      dialFellow(url, Object.fromEntries(this.#headersFor(caller))).catch((error: unknown) => {
        throw unreachable(fellow.url, error)
      })
    let dialled = await open()
    if ("status" in dialled && dialled.status === 401) {
      await this.#secret.load()
      dialled = await open()
    }
    if (dialled instanceof WebSocket) return this.#keep(fellow.id, dialled)
    const { status, text } = dialled
    const refusal = status === 401 ? undefined : refusalIn(parse(text))
    throw refusal ?? unreachable(fellow.url, new Error(`it replied ${status}`))
  }

  /** It is dead: nothing more comes from there, though its machine may never say so. */
  gone(id: string): void {
    for (const socket of this.#lasting.get(id) ?? []) socket.terminate()
  }

  #keep(id: string, socket: WebSocket): WebSocket {
    const kept = this.#lasting.get(id) ?? new Set()
    this.#lasting.set(id, kept.add(socket))
    socket.once("close", () => {
      kept.delete(socket)
      if (kept.size === 0 && this.#lasting.get(id) === kept) this.#lasting.delete(id)
    })
    return socket
  }

  #headersFor(caller: Caller | undefined): Headers {
    const headers = new Headers({ authorization: `Bearer ${this.#secret.current}` })
    if (caller !== undefined) headers.set(CALLER_HEADER, Buffer.from(JSON.stringify(caller)).toString("base64url"))
    return headers
  }

  async #send(
    { url }: Place,
    { method, path, body, caller, accept, signal }: FellowCall,
    timeoutMs: number,
  ): Promise<Response> {
    const headers = this.#headersFor(caller)
    if (body !== undefined) headers.set("content-type", "application/json")
    if (accept !== undefined) headers.set("accept", accept)
    const late = AbortSignal.timeout(timeoutMs)
    const over = signal === undefined ? late : AbortSignal.any([late, signal])
    try {
      return await fetch(`${url}/cluster${path}`, {
        method,
        headers,
        signal: over,
        redirect: "error",
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    } catch (error) {
      throw isUnheard(error) ? unreachable(url, error) : lost(url, error)
    }
  }

  /** Its own news, and its sessions', as they come. */
  stream({ url }: Place): WebSocket {
    const headers = { authorization: `Bearer ${this.#secret.current}` }
    const address = `${url.replace(/^http/, "ws")}/cluster/stream`
    return new WebSocket(address, { headers, handshakeTimeout: HANDSHAKE_MS, perMessageDeflate: false })
  }

  /** The reply's JSON. The other hub's refusals are thrown as its own. */
  async call(fellow: Place, call: FellowCall, timeoutMs: number): Promise<unknown> {
    const reply = await this.fetch(fellow, call, timeoutMs)
    const text = await reply.text()
    const value = parse(text.slice(0, reply.ok ? undefined : MAX_ERROR_CHARS))
    if (reply.ok) return value
    throw refusalIn(value) ?? unreachable(fellow.url, new Error(`it replied ${reply.status}`))
  }
}

function parse(text: string): unknown {
  try {
    const value: unknown = text === "" ? undefined : JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** A refusal as the other hub told it. */
function refusalIn(value: unknown): HubError | undefined {
  if (!isObject(value)) return undefined
  const { error: told, ...details } = value
  const [code, message] = isObject(told) ? [textOf(told, "code"), textOf(told, "message")] : []
  return code !== undefined && message !== undefined && isApiCode(code)
    ? new HubError(code, message, { details })
    : undefined
}

function isApiCode(code: string): code is ApiErrorCode {
  return Object.hasOwn(API_ERRORS, code)
}

/** The connection was never made: nothing was done. */
function isUnheard(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  return isObject(cause) && CONNECT_CODES.has(cause["code"])
}

function unreachable(url: string, cause: unknown): HubError {
  return new HubError(
    "hub/unreachable",
    `The hub at ${url} has this session and cannot be reached: try again in a moment.`,
    {
      cause,
      details: { retryAfterSeconds: 2 },
    },
  )
}

function lost(url: string, cause: unknown): HubError {
  return new HubError(
    "hub/moved",
    `The hub at ${url} went away before it replied (${reasonOf(cause)}): nobody knows whether it was done. Look before you try again.`,
    { cause, details: { retryAfterSeconds: 1 } },
  )
}
