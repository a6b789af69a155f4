import { parseObject } from "@signalbox/protocol/envelope"
import { WebSocket } from "ws"
import { HubError, reasonOf, refusalIn } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { ClusterSecret } from "./cluster-secret.ts"
import { dialFellow, requestFellow, UnreachedError } from "./fellow-wire.ts"

export interface FellowCall {
  readonly method: string
  /** Behind `/cluster`. */
  readonly path: string
  readonly body?: unknown
  /** On whose behalf. */
  readonly caller?: Caller
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

type Sending = FellowCall & { readonly signal: AbortSignal }
type Known = Readonly<{ id: string; url: string }>
type Waiting = Readonly<{ timeoutMs: number; goesOn?: boolean }>

export const CALLER_HEADER = "x-signalbox-caller"
/** The address at which the caller reached the hub that passes its call on. */
export const HOST_HEADER = "x-signalbox-host"
const JSON_HEADERS = { "content-type": "application/json" }
const HANDSHAKE_MS = 5_000
/** A hub that something is awaited from is asked so often whether it is there, and has as long to say so. */
const PING_MS = 5_000
const MAX_ERROR_CHARS = 64 * 1024

/** Calls to other hubs on the same store. */
export class Fellows {
  readonly #secret: Pick<ClusterSecret, "current" | "load">
  readonly #ca: string | undefined
  readonly #pingMs: number
  /** What ends each connection that lasts, by the hub that it goes to. */
  readonly #lasting = new Map<string, Set<() => void>>()
  readonly #pings = new Map<string, NodeJS.Timeout>()

  /** `ca`: the certificates that they trust, instead of those that this machine trusts. */
  constructor(secret: Pick<ClusterSecret, "current" | "load">, ca?: string, pingMs = PING_MS) {
    this.#secret = secret
    this.#ca = ca
    this.#pingMs = pingMs
  }

  /**
   * The reply as it is, whatever its status. Fails with `hub/unreachable` if it never got there, and with `hub/moved` if nobody knows what
   * became of it: that hub is dead, too. `goesOn`: the time is that of its beginning; a stream that breaks off just ends.
   */
  async fetch(fellow: Known, call: FellowCall, { timeoutMs, goesOn = false }: Waiting): Promise<Response> {
    const over = new AbortController()
    const forget = this.#keep(fellow, () => over.abort())
    const late = setTimeout(() => over.abort(), timeoutMs)
    const release = () => {
      clearTimeout(late)
      forget()
    }
    try {
      const signal = call.signal ? AbortSignal.any([over.signal, call.signal]) : over.signal
      const reply = await this.#fetch(fellow, { ...call, signal })
      if (goesOn) clearTimeout(late)
      if (reply.body !== null) return new Response(watchEnd(reply.body, { onEnd: release, mayBreak: goesOn }), reply)
      release()
      return reply
    } catch (error) {
      release()
      throw error
    }
  }

  async #fetch(fellow: Known, call: Sending): Promise<Response> {
    const reply = await this.#send(fellow, call)
    if (reply.status !== 401) return reply
    // The caller is vouched for, so it is the secret that the fellow does not take: another hub has replaced it.
    await reply.body?.cancel()
    await this.#secret.load()
    const again = await this.#send(fellow, call)
    if (again.status === 401) throw unreachable(fellow.url, new Error("it does not take this hub's secret"))
    return again
  }

  /** A WebSocket that lasts until somebody closes it, or the other hub is dead. Fails with the other hub's own refusal, or with `hub/unreachable`. */
  async dial(fellow: Known, path: string, caller: Caller): Promise<WebSocket> {
    const url = `${fellow.url.replace(/^http/, "ws")}/cluster${path}`
    const open = () =>
      dialFellow(url, { headers: this.#headersFor(caller), ca: this.#ca }).catch((error: unknown) => {
        throw unreachable(fellow.url, error)
      })
    let dialled = await open()
    if ("status" in dialled && dialled.status === 401) {
      await this.#secret.load()
      dialled = await open()
    }
    if (dialled instanceof WebSocket) {
      const socket = dialled
      socket.once(
        "close",
        this.#keep(fellow, () => socket.terminate()),
      )
      return socket
    }
    const { status, text } = dialled
    const refusal = status === 401 ? undefined : refusalIn(parseObject(text))
    throw refusal ?? unreachable(fellow.url, new Error(`it replied ${status}`))
  }

  /** It is dead: nothing more comes from there, though its machine may never say so. */
  gone(id: string): void {
    for (const end of this.#lasting.get(id) ?? []) end()
  }

  /** This hub serves nobody now: what it passes on ends. */
  hangUp(): void {
    for (const id of this.#lasting.keys()) this.gone(id)
  }

  /** Returns what forgets it again. */
  #keep(fellow: Known, end: () => void): () => void {
    const { id } = fellow
    const kept = this.#lasting.get(id) ?? new Set()
    this.#lasting.set(id, kept.add(end))
    if (!this.#pings.has(id)) this.#ping(fellow)
    return () => {
      kept.delete(end)
      if (kept.size === 0 && this.#lasting.get(id) === kept) this.#lasting.delete(id)
    }
  }

  /** Nobody says that a connection was cut: as long as one lasts, that hub must answer now and then. Whatever it answers, it is there. */
  #ping(fellow: Known): void {
    const { id } = fellow
    const ask = async () => {
      if (this.#lasting.has(id)) {
        const over = new AbortController()
        const late = setTimeout(() => over.abort(), this.#pingMs)
        const call = { method: "POST", path: "/ping", body: {}, signal: over.signal }
        await this.#fetch(fellow, call)
          .then((reply) => reply.body?.cancel())
          .catch(() => this.gone(id))
        clearTimeout(late)
      }
      this.#pings.delete(id)
      if (this.#lasting.has(id)) this.#ping(fellow)
    }
    this.#pings.set(id, setTimeout(() => void ask(), this.#pingMs).unref())
  }

  #headersFor(caller: Caller | undefined): Record<string, string> {
    const shown = caller && Buffer.from(JSON.stringify(caller)).toString("base64url")
    return { authorization: `Bearer ${this.#secret.current}`, ...(shown !== undefined && { [CALLER_HEADER]: shown }) }
  }

  async #send({ url }: Known, { method, path, body, caller, headers, signal }: Sending): Promise<Response> {
    try {
      return await requestFellow(`${url}/cluster${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && JSON_HEADERS), ...this.#headersFor(caller) },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal,
        ca: this.#ca,
      })
    } catch (error) {
      throw error instanceof UnreachedError ? unreachable(url, error) : lost(url, error)
    }
  }

  /** Its own news, and its sessions', as they come. */
  stream({ url }: Pick<Known, "url">): WebSocket {
    const headers = { authorization: `Bearer ${this.#secret.current}` }
    const address = `${url.replace(/^http/, "ws")}/cluster/stream`
    const ca = this.#ca
    return new WebSocket(address, { headers, ca, handshakeTimeout: HANDSHAKE_MS, perMessageDeflate: false })
  }

  /** The reply's JSON. The other hub's refusals are thrown as its own. */
  async call(fellow: Known, call: FellowCall, timeoutMs: number): Promise<unknown> {
    const reply = await this.fetch(fellow, call, { timeoutMs })
    const text = await reply.text()
    const value = parseObject(text.slice(0, reply.ok ? undefined : MAX_ERROR_CHARS))
    if (reply.ok) return value
    throw refusalIn(value) ?? unreachable(fellow.url, new Error(`it replied ${reply.status}`))
  }
}

interface Watching {
  /** Called however the bytes end. */
  readonly onEnd: () => void
  /** What breaks off ends: its reader comes back by itself. */
  readonly mayBreak: boolean
}

/** The same bytes. */
function watchEnd(body: ReadableStream<Uint8Array>, { onEnd, mayBreak }: Watching): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const broken = (error: unknown) => {
    onEnd()
    if (!mayBreak) throw error
    return { value: undefined }
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value } = await reader.read().catch(broken)
        if (value !== undefined) return controller.enqueue(value)
        onEnd()
        controller.close()
      },
      async cancel(reason) {
        onEnd()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

function unreachable(url: string, cause: unknown): HubError {
  return new HubError("hub/unreachable", `The hub at ${url} cannot be reached. Try again in a moment.`, {
    cause,
    details: { retryAfterSeconds: 2 },
  })
}

function lost(url: string, cause: unknown): HubError {
  return new HubError(
    "hub/moved",
    `The hub at ${url} went away before it replied (${reasonOf(cause)}): it may or may not have been done. Check before you repeat it.`,
    { cause, details: { retryAfterSeconds: 1 } },
  )
}
