import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import { AddressTurn, listedAddresses } from "@signalbox/protocol/hub-addresses"
import type { Method, RouteCall, RouteName, RouteReply } from "@signalbox/protocol/hub-api"
import { type Backoff, backoffMs } from "@signalbox/protocol/timing"
import { abortedError, closedError, HubClientError } from "./errors.ts"

/** How a call is made, whatever it says. */
export interface CallOptions {
  /** Doing it twice is doing it once: it is tried again while the hub is away for a moment. */
  readonly repeatable?: boolean
  readonly timeoutMs?: number
  readonly signal?: AbortSignal | undefined
}

export interface Call extends CallOptions {
  readonly method: Method
  /** From `/api/…` on, with what needs it escaped. */
  readonly path: string
  readonly query?: object
  readonly body?: object
}

type Given<Name extends RouteName> = RouteCall<Name> & CallOptions

export interface RestOptions {
  readonly addresses: HubAddresses
  readonly backoff: Backoff
  readonly timeoutMs: number
}

const MAX_TRIES = 5
const MAX_ASKED_DELAY_MS = 10_000

/** Calls to the hub. Each settles: by the reply, by time, by the caller's signal or by `close`. */
export class Rest {
  readonly #options: RestOptions
  /** The calls under way, each by what ends it. One signal would have as many listeners as there are calls: Node takes that for a leak. */
  readonly #underWay = new Set<AbortController>()
  #isClosed = false

  constructor(options: RestOptions) {
    this.#options = options
  }

  close(): void {
    this.#isClosed = true
    for (const ending of this.#underWay) ending.abort(closedError())
  }

  /** A route of the hub's table, with the types it has there. Reading is repeatable unless it is said not to be. */
  route<Name extends RouteName>(
    name: Name,
    ...[given]: Partial<Given<Name>> extends Given<Name> ? [Given<Name>?] : [Given<Name>]
  ): Promise<RouteReply<Name>> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a name is a method and a path, and has these parts
    const [method, path] = name.split(" ") as [Method, string]
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that a route can be given, when it is not known which
    const { params = {}, ...rest } = (given ?? {}) as Omit<Call, "method" | "path"> & {
      params?: Record<string, string>
    }
    const filled = path.replace(/:(\w+)/g, (_, part: string) => encodeURIComponent(params[part] ?? ""))
    return this.call({ repeatable: method === "GET", ...rest, method, path: filled })
  }

  /** The reply's body, which is taken to be what the hub's contract says. */
  async call<Reply>(call: Call): Promise<Reply> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once<Reply>(call)
      } catch (error) {
        if (call.repeatable !== true || tries >= MAX_TRIES || !isPassing(error)) throw error
        const delayMs = backoffMs(this.#options.backoff, tries, Math.random())
        await this.#pause(Math.max(delayMs, askedDelayMs(error)), call.signal)
      }
    }
  }

  #once<Reply>(call: Call): Promise<Reply> {
    return this.#send(call, "application/json", async (response, at) => {
      const body = parse(await response.text())
      if (!response.ok) throw refusal(response.status, body?.value, { call, at })
      if (body === undefined) throw badReply(response.status, { call, at })
      // Taken at the hub's word: its contract says what the reply is.
      const { value }: { value: Reply } = body
      return value
    })
  }

  /** A reply that comes line by line. Not repeated: `take` may have had some of it. */
  lines(call: Call, take: (line: string) => void): Promise<void> {
    return this.#send(call, "application/x-ndjson", async (response, at) => {
      if (!response.ok) throw refusal(response.status, parse(await response.text())?.value, { call, at })
      const isLines = response.headers.get("content-type")?.startsWith("application/x-ndjson") === true
      if (!isLines || response.body === null) throw badReply(response.status, { call, at })
      const reader = response.body.getReader()
      const decoder = new TextDecoder()
      let rest = ""
      try {
        for (let isRead = false; !isRead; ) {
          const { done, value } = await reader.read()
          const lines = `${rest}${decoder.decode(value, { stream: !done })}`.split("\n")
          rest = done ? "" : (lines.pop() ?? "")
          for (const line of lines) if (line !== "") take(line)
          isRead = done
        }
      } finally {
        reader.cancel().catch(() => undefined)
      }
    })
  }

  /** Where there are several addresses, the next one is asked at once, as long as that cannot do anything twice. */
  async #send<Reply>(call: Call, accept: string, read: ReadReply<Reply>): Promise<Reply> {
    const { addresses } = this.#options
    const asked = new Set<string>()
    for (;;) {
      const address = addresses.now()
      try {
        return await this.#ask(address, { call, accept, read })
      } catch (error) {
        const isTimeout = error instanceof HubClientError && error.code === "client/timeout"
        if (!isTimeout && !isPassing(error)) throw error
        const next = addresses.failed(address.http)
        asked.add(address.http)
        const mayAskOther = wasNotSent(error) || (call.repeatable === true && !isTimeout)
        if (!mayAskOther || next === undefined || asked.has(next)) throw error
      }
    }
  }

  async #ask<Reply>({ http, token }: HubAddress, { call, accept, read }: Asking<Reply>): Promise<Reply> {
    const timeoutMs = call.timeoutMs ?? this.#options.timeoutMs
    const ending = new AbortController()
    const release = this.#endWith(ending, call.signal)
    const timer = setTimeout(() => {
      ending.abort(new HubClientError("client/timeout", `the hub did not answer ${call.path} within ${timeoutMs} ms`))
    }, timeoutMs)
    try {
      const response = await fetch(`${http}${pathOf(call)}`, init(call, { token, accept, signal: ending.signal }))
      return await read(response, http)
    } catch (error) {
      if (error instanceof HubClientError) throw error
      if (ending.signal.aborted) throw ending.signal.reason
      const message = `the hub at ${http} cannot be reached; is it running?`
      throw new HubClientError("client/unreachable", message, { cause: error })
    } finally {
      clearTimeout(timer)
      release()
    }
  }

  /** Our own end and the caller's, in one signal. */
  #endWith(ending: AbortController, signal: AbortSignal | undefined): () => void {
    const onAbort = () => ending.abort(abortedError(signal))
    if (this.#isClosed) ending.abort(closedError())
    else if (signal?.aborted === true) onAbort()
    this.#underWay.add(ending)
    signal?.addEventListener("abort", onAbort)
    return () => {
      this.#underWay.delete(ending)
      signal?.removeEventListener("abort", onAbort)
    }
  }

  /** Ends early when the call is over; the next try then says why. */
  #pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const ending = new AbortController()
      const release = this.#endWith(ending, signal)
      const done = () => {
        clearTimeout(timer)
        release()
        resolve()
      }
      const timer = setTimeout(done, delayMs)
      if (ending.signal.aborted) done()
      else ending.signal.addEventListener("abort", done)
    })
  }
}

/** No hub was reached, or it says that it can do nothing now. A proxy says 502 or 504 where the hub behind it is away. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof HubClientError)) return false
  const { code, status = 0 } = error
  // 408: a hub that was stopped for a while had not read the request.
  return (
    code === "client/unreachable" ||
    status === 503 ||
    status === 408 ||
    (code === "client/bad-reply" && [502, 504].includes(status))
  )
}

const NOT_SENT = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** No connection was made, so that nobody has heard of the call. A browser does not tell. */
function wasNotSent(error: unknown): boolean {
  const failure = error instanceof HubClientError && error.cause instanceof Error ? error.cause.cause : undefined
  return NOT_SENT.test(textOf(failure, "code") ?? "")
}

/** How long the hub asks to wait, up to a bound of our own: in the reply's body, which a page of another origin can read too. */
function askedDelayMs(error: unknown): number {
  const seconds = error instanceof HubClientError ? error.details["retryAfterSeconds"] : undefined
  return typeof seconds === "number" && seconds > 0 ? Math.min(seconds * 1000, MAX_ASKED_DELAY_MS) : 0
}

type ReadReply<Reply> = (response: Response, at: string) => Promise<Reply>

interface Asking<Reply> {
  readonly call: Call
  readonly accept: string
  readonly read: ReadReply<Reply>
}

interface Asked {
  readonly call: Call
  readonly at: string
}

function badReply(status: number, { call, at }: Asked): HubClientError {
  const message = `what answers at ${at} is not a hub: its reply to ${call.path} is no JSON; check the address`
  return new HubClientError("client/bad-reply", message, { status })
}

function refusal(status: number, body: unknown, { call, at }: Asked): HubClientError {
  const error = fieldOf(body, "error")
  const code = textOf(error, "code")
  if (code === undefined) {
    // A proxy in front of a hub says so when the hub is away.
    const message =
      status >= 500
        ? `${at} answered ${call.path} with status ${status}: look whether the hub behind it is up`
        : `what answers at ${at} is not a hub: it answered ${call.path} with status ${status}; check the address`
    return new HubClientError("client/bad-reply", message, { status })
  }
  const { error: _, ...details } = isObject(body) ? body : {}
  return new HubClientError(code, textOf(error, "message") ?? code, { status, details })
}

function parse(text: string) {
  try {
    return { value: text === "" ? undefined : JSON.parse(text) }
  } catch {
    return undefined
  }
}

interface Sending {
  readonly token: string | undefined
  readonly accept: string
  readonly signal: AbortSignal
}

function init(call: Call, { token, accept, signal }: Sending): RequestInit {
  return {
    method: call.method,
    signal,
    // A browser's login is a cookie.
    credentials: "include",
    headers: {
      Accept: accept,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(call.body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
  }
}

function pathOf({ path, query = {} }: Call): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value))
  const text = parameters.toString()
  return `${path}${text === "" ? "" : `?${text}`}`
}

export interface HubAddress {
  /** Without a slash at its end. */
  readonly http: string
  readonly webSocket: string
  readonly token: string | undefined
}

/** One address, or those of hubs on the same store: a list, or in one text with commas between them. */
export type HubUrl = string | URL | readonly (string | URL)[]

type Now<Value> = () => Value | undefined

/**
 * Which address of a hub is used now, for everything that one client does. A hub may come back elsewhere, or let us in by another
 * token: what is given as functions is asked at each try, once. What can never work is told at once.
 */
export class HubAddresses {
  readonly #turn = new AddressTurn()
  readonly #url: Now<HubUrl>
  readonly #token: Now<string>
  readonly #isFixed: boolean
  /** As they were at the last try. */
  #listed: readonly HubAddress[] = []

  constructor(url: HubUrl | Now<HubUrl>, token: string | Now<string> | undefined) {
    this.#url = typeof url === "function" ? url : () => url
    this.#token = typeof token === "function" ? token : () => token
    this.#isFixed = typeof url !== "function" && typeof token !== "function"
    if (typeof url !== "function") this.#listed = this.#parse(typeof token === "function" ? undefined : token)
  }

  now(): HubAddress {
    if (!this.#isFixed) this.#listed = this.#parse(this.#token())
    const address = this.#turn.now(this.#listed)
    if (address !== undefined) return address
    throw new HubClientError("client/unreachable", "no hub is running there; is it stopped?")
  }

  /** It does not answer, or says that another one should be asked. Returns the one that is used from now on. */
  failed(http: string): string | undefined {
    const listed = this.#listed.map((address) => address.http)
    this.#turn.failed(http, listed)
    return this.#turn.now(listed)
  }

  get count(): number {
    return Math.max(1, this.#listed.length)
  }

  #parse(token: string | undefined): readonly HubAddress[] {
    const url = this.#url()
    if (url === undefined) return []
    const texts = typeof url === "string" || url instanceof URL ? [url] : url
    const listed = listedAddresses(texts.map(String))
    return listed.map((text) => addressOf(text, token))
  }
}

/** Any of http, https, ws and wss; a path in it stays in front of ours. */
function addressOf(url: string, token: string | undefined): HubAddress {
  const parsed = parseUrl(url)
  const isSecure = parsed.protocol === "https:" || parsed.protocol === "wss:"
  if (!isSecure && parsed.protocol !== "http:" && parsed.protocol !== "ws:") {
    throw new HubClientError(
      "client/misconfigured",
      `a hub's address begins with http or https, not ${parsed.protocol}`,
    )
  }
  if (parsed.username !== "" || parsed.search !== "" || parsed.hash !== "") {
    throw new HubClientError(
      "client/misconfigured",
      "a hub's address has no name, query or fragment; give the token as `token`",
    )
  }
  // A header cannot hold more than this, and an error about it deep in a socket would be hard to read.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new HubClientError("client/misconfigured", "the token is empty or has characters that no token has")
  }
  const rest = `${parsed.host}${parsed.pathname.replace(/\/+$/, "")}`
  return { http: `http${isSecure ? "s" : ""}://${rest}`, webSocket: `ws${isSecure ? "s" : ""}://${rest}`, token }
}

function parseUrl(url: string): URL {
  try {
    return new URL(url)
  } catch (cause) {
    const said = url === "" ? "an empty text" : url
    throw new HubClientError("client/misconfigured", `${said} is no address; write http://127.0.0.1:8765`, { cause })
  }
}

/** For what may be sent twice and must count once. `crypto.randomUUID` is missing in a browser on a plain http page. */
export function newUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-")
}
