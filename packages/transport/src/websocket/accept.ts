import { createHash, timingSafeEqual } from "node:crypto"
import { type IncomingHttpHeaders, type IncomingMessage, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { quietly } from "../errors.ts"
import { type Clock, systemClock } from "../pacing.ts"
import { DEFAULT_CLOSE_TIMEOUT_MS, DEFAULT_MAX_PAYLOAD_BYTES, type LineLimits, settleLineLimits } from "../transport.ts"
import { AcceptedConnection, type AcceptSettings } from "./accepted-socket.ts"
import { assertCloseCode, fitCloseReason } from "./close-codes.ts"
import { type OutgoingLimits, settleOutgoingLimits } from "./outgoing-lines.ts"

/** The decision on somebody who wants to connect. */
export type UpgradeDecision =
  /** `lastRequestId` goes into the upgrade's reply as `X-Last-Request-Id`: the last message that arrived from this agent. */
  | { readonly ok: true; readonly lastRequestId?: string }
  /** An HTTP error instead of the upgrade. It ends CLI 2.1.119 and 2.1.120 for good, whatever the status. */
  | { readonly ok: false; readonly how: "refuse-http"; readonly status: number; readonly message?: string }
  /** The upgrade succeeds and the socket is closed at once: 4001 tells every CLI not to come back. */
  | { readonly ok: false; readonly how: "close"; readonly code: number; readonly reason: string }
  /** The TCP connection is cut without a word: every CLI tries again. */
  | { readonly ok: false; readonly how: "drop" }

export interface AcceptorOptions extends LineLimits, OutgoingLimits {
  readonly verify?: (request: UpgradeRequest) => UpgradeDecision | Promise<UpgradeDecision>
  /** `verify` threw: the connection was dropped. */
  readonly onVerifyFailed?: (error: unknown) => void
  /** A larger frame ends the connection with close code 1009. */
  readonly maxPayloadBytes?: number
  /** 0 means no pings. */
  readonly pingMs?: number
  /** By default no `keep_alive` lines are sent. */
  readonly keepAliveMs?: number
  /** How long the peer has to answer our close frame. */
  readonly closeTimeoutMs?: number
  readonly clock?: Clock
}

export interface WebSocketAcceptor {
  /**
   * For a server's `upgrade` event. Undefined when there is no connection: refused, dropped, or gone meanwhile; the
   * socket has then been dealt with. Never rejects.
   */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<AcceptedConnection | undefined>
}

const DEFAULT_PING_MS = 30_000
const ACCEPT: UpgradeDecision = { ok: true }

export function createWebSocketAcceptor(options: AcceptorOptions = {}): WebSocketAcceptor {
  const settings = settle(options)
  const decide = decider(options)
  const replyHeaders = new WeakMap<IncomingMessage, string>()
  const server = createUpgrader(settings, replyHeaders)

  return {
    async handleUpgrade(request, socket, head) {
      // Until `ws` takes over, an error event without a listener would end the process.
      socket.on("error", ignoreError)
      const facts = readUpgradeRequest(request)
      if (facts === undefined) return refuse(socket, 400)
      const decision = await decide(facts)
      if (socket.destroyed) return undefined
      if (!decision.ok && decision.how === "drop") return void socket.destroy()
      if (!decision.ok && decision.how === "refuse-http") return refuse(socket, decision.status, decision.message)
      if (decision.ok && decision.lastRequestId !== undefined) {
        replyHeaders.set(request, `X-Last-Request-Id: ${assertHeaderValue(decision.lastRequestId)}`)
      }
      return upgrade(server, { request, socket, head }, (webSocket) => {
        if (decision.ok) return new AcceptedConnection(webSocket, facts, settings)
        turnAway(webSocket, decision.code, decision.reason, settings)
        return undefined
      })
    },
  }
}

function createUpgrader(settings: AcceptSettings, replyHeaders: WeakMap<IncomingMessage, string>): WebSocketServer {
  const options = {
    noServer: true,
    clientTracking: false,
    maxPayload: settings.maxPayloadBytes,
    // A line may be cut between frames anywhere, in the middle of a character too. Bytes are decoded per line.
    skipUTF8Validation: true,
    closeTimeout: settings.closeTimeoutMs,
  }
  const server = new WebSocketServer(options)
  server.on("headers", (headers, request) => {
    const header = replyHeaders.get(request)
    if (header !== undefined) headers.push(header)
  })
  return server
}

function settle(options: AcceptorOptions): AcceptSettings {
  return {
    ...settleLineLimits(options),
    ...settleOutgoingLimits(options),
    clock: options.clock ?? systemClock,
    maxPayloadBytes: options.maxPayloadBytes ?? DEFAULT_MAX_PAYLOAD_BYTES,
    pingMs: options.pingMs ?? DEFAULT_PING_MS,
    keepAliveMs: options.keepAliveMs ?? 0,
    closeTimeoutMs: options.closeTimeoutMs ?? DEFAULT_CLOSE_TIMEOUT_MS,
  }
}

function decider({ verify, onVerifyFailed }: AcceptorOptions): (facts: UpgradeRequest) => Promise<UpgradeDecision> {
  const tellFailed = quietly(onVerifyFailed)
  return async (facts) => {
    if (verify === undefined) return ACCEPT
    try {
      const decision = await verify(facts)
      if (decision.ok && decision.lastRequestId !== undefined) assertHeaderValue(decision.lastRequestId)
      if (!decision.ok && decision.how === "close") assertCloseCode(decision.code)
      return decision
    } catch (error) {
      tellFailed(error)
      return { ok: false, how: "drop" }
    }
  }
}

/** `ws` calls back at once or, when the request is no proper upgrade and was answered with an error, never. */
function upgrade(
  server: WebSocketServer,
  from: { request: IncomingMessage; socket: Duplex; head: Buffer },
  take: (webSocket: WebSocket) => AcceptedConnection | undefined,
): AcceptedConnection | undefined {
  let taken: AcceptedConnection | undefined
  server.handleUpgrade(from.request, from.socket, from.head, (webSocket) => {
    from.socket.off("error", ignoreError)
    taken = take(webSocket)
  })
  return taken
}

function turnAway(webSocket: WebSocket, code: number, reason: string, settings: AcceptSettings): void {
  webSocket.on("error", ignoreError)
  webSocket.close(code, fitCloseReason(reason))
  const cancel = settings.clock.after(settings.closeTimeoutMs, () => webSocket.terminate())
  webSocket.on("close", cancel)
}

function refuse(socket: Duplex, status: number, message = STATUS_CODES[status] ?? "refused"): undefined {
  const body = `${JSON.stringify({ error: message })}\n`
  socket.once("finish", () => socket.destroy())
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** A uuid, or at least nothing that could begin another header. */
function assertHeaderValue(value: string): string {
  if (!/^[\x21-\x7e]{1,256}$/.test(value)) throw new Error("lastRequestId cannot be put into a header")
  return value
}

function ignoreError(): void {}

/** An agent's words about itself when it connects. */
export interface UpgradeRequest {
  readonly path: string
  readonly query: URLSearchParams
  /** From `Authorization: Bearer …`. */
  readonly token: string | undefined
  /** From `X-Environment-Runner-Version`. */
  readonly environmentRunnerVersion: string | undefined
  /** From `X-Last-Request-Id`: the agent was connected before, and this is the last message it wrote, delivered or not. */
  readonly lastRequestId: string | undefined
  readonly remoteAddress: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** Undefined when the target is no path at all. */
function readUpgradeRequest(request: IncomingMessage): UpgradeRequest | undefined {
  const target = readTarget(request.url)
  if (target === undefined) return undefined
  return {
    path: target.pathname,
    query: target.searchParams,
    token: readBearer(request.headers.authorization),
    environmentRunnerVersion: readHeader(request.headers, "x-environment-runner-version"),
    lastRequestId: readHeader(request.headers, "x-last-request-id"),
    remoteAddress: request.socket.remoteAddress,
    headers: request.headers,
  }
}

/** Only origin-form targets: `//host/…` would otherwise be read as another host's URL. */
export function readTarget(url: string | undefined): URL | undefined {
  const whole = `http://localhost${url}`
  return url?.startsWith("/") === true && URL.canParse(whole) ? new URL(whole) : undefined
}

export function readBearer(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? "")?.[1]
}

/** Compares in a time that says nothing about how much of the token was right, or how long it is. */
export function isSameToken(given: string | undefined, expected: string | undefined): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest()
  const same = timingSafeEqual(digest(given ?? ""), digest(expected ?? ""))
  return same && given !== undefined && expected !== undefined
}

function readHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined || first === "" ? undefined : first
}
