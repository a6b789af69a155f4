import type { IncomingMessage, ServerResponse } from "node:http"
import { quietly } from "../errors.ts"
import { type Clock, systemClock } from "../pacing.ts"
import {
  DEFAULT_MAX_PAYLOAD_BYTES,
  DEFAULT_MAX_WAITING_BYTES,
  type LineLimits,
  type SendLimits,
  settleLineLimits,
} from "../transport.ts"
import { isSameToken, readBearer, readTarget } from "../websocket/accept.ts"
import type { AcceptedConnection } from "../websocket/accepted-socket.ts"
import { discardRest, eventsPath, parseEvents, readBody } from "./events.ts"
import { type HybridConnection, type HybridSettings, PostedConnection } from "./hybrid-connection.ts"

export interface HybridReceiverOptions extends LineLimits, SendLimits {
  readonly maxBodyBytes?: number
  /** Bound for one agent at a time. The real CLIs have one; another may be the one they gave up before. */
  readonly maxPostsUnderWay?: number
  /** How long after the reply to a POST a line that waited for it is sent. */
  readonly answerGraceMs?: number
  /**
   * Agents without a token share the address of the root: tells which of them posted these events. Undefined: it is not known
   * yet, and the agent tries again. By default the newest.
   */
  readonly whose?: (lines: readonly string[], among: readonly HybridConnection[]) => HybridConnection | undefined
  /** Events of this connection were posted and handed on. */
  readonly onPosted?: (connection: HybridConnection) => void
  readonly clock?: Clock
}

interface Reply {
  readonly status: number
  readonly error?: string
}

const DEFAULT_MAX_POSTS = 2
const DEFAULT_ANSWER_GRACE_MS = 100
/** Agents that dialled the root post here. */
const SHARED_PATH = eventsPath("/")

export function createHybridReceiver(options: HybridReceiverOptions = {}): HybridReceiver {
  return new HybridReceiver(options)
}

/** Takes the events that agents post beside their WebSocket. */
export class HybridReceiver {
  readonly #settings: HybridSettings
  readonly #maxBodyBytes: number
  readonly #maxPosts: number
  readonly #onPosted: (connection: HybridConnection) => void
  readonly #whose: NonNullable<HybridReceiverOptions["whose"]>
  /** POSTs under way whose agent is told by their events. */
  #undecided = 0
  /** By the address of their events; the newest last: an agent that came back may have left a dead socket behind. */
  readonly #connections = new Map<string, readonly PostedConnection[]>()

  constructor(options: HybridReceiverOptions) {
    this.#settings = {
      ...settleLineLimits(options),
      clock: options.clock ?? systemClock,
      maxWaitingBytes: options.maxWaitingBytes ?? DEFAULT_MAX_WAITING_BYTES,
      answerGraceMs: options.answerGraceMs ?? DEFAULT_ANSWER_GRACE_MS,
    }
    this.#maxBodyBytes = options.maxBodyBytes ?? DEFAULT_MAX_PAYLOAD_BYTES
    this.#maxPosts = options.maxPostsUnderWay ?? DEFAULT_MAX_POSTS
    this.#onPosted = quietly(options.onPosted)
    this.#whose = options.whose ?? ((_lines, among) => among.at(-1))
  }

  /** From now on events posted to this connection's path come out of its `lines`. Use what it returns in its place. */
  attach(connection: AcceptedConnection): HybridConnection {
    const { path, query } = connection.request
    const address = addressOf(eventsPath(path), query)
    const posted = new PostedConnection(connection, this.#settings)
    this.#connections.set(address, [...(this.#connections.get(address) ?? []), posted])
    void this.#forgetWhenClosed(address, posted)
    return posted
  }

  /** Answers `POST …/session/…/events` and `POST /events`, whatever was sent. Never rejects. */
  async receiveEvents(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Nobody else listens for these, and an error event without a listener would end the process.
    request.on("error", ignoreError)
    response.on("error", ignoreError)
    const reply = await this.#receive(request, response).catch((): Reply => ({ status: 500, error: "internal error" }))
    if (reply === undefined) return void response.destroy()
    answer(response, reply)
    discardRest(request, this.#settings.clock)
  }

  /** Undefined when the client has gone and there is nobody to answer. */
  async #receive(request: IncomingMessage, response: ServerResponse): Promise<Reply | undefined> {
    if (request.method !== "POST") return { status: 405, error: "events are posted" }
    const target = readTarget(request.url)
    if (target === undefined) return { status: 400, error: "not a path" }
    const token = readBearer(request.headers.authorization)
    const found = this.#find(target, token)
    if ("status" in found) return found
    const newest = found.at(-1)
    if (newest === undefined) return ABSENT
    const isTold = token === undefined && target.pathname === SHARED_PATH
    const leave = isTold ? this.#enterUndecided(found.length) : newest.enter(this.#maxPosts)
    if (leave === undefined) return { status: 429, error: "too many posts at once" }
    try {
      return await this.#take((lines) => (isTold ? this.#whose(lines, found) : newest), request, response)
    } finally {
      leave()
    }
  }

  /** The connections with this token, newest last. */
  #find({ pathname, searchParams }: URL, token: string | undefined): readonly PostedConnection[] | Reply {
    const candidates = this.#connections.get(addressOf(pathname, searchParams))
    if (candidates === undefined) return ABSENT
    const own = candidates.filter(({ request: { token: expected } }) =>
      expected === undefined ? token === undefined : isSameToken(token, expected),
    )
    if (own.length > 0) return own
    // At the root others are connected, and this agent's own socket may be on its way back.
    return pathname === SHARED_PATH ? ABSENT : { status: 401, error: "the token is not the one of the connection" }
  }

  #enterUndecided(agents: number): (() => void) | undefined {
    if (this.#undecided >= agents * this.#maxPosts) return undefined
    this.#undecided++
    return () => {
      this.#undecided--
    }
  }

  async #take(
    whose: (lines: readonly string[]) => HybridConnection | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<Reply | undefined> {
    const maxBytes = this.#maxBodyBytes
    const body = await readBody(request, maxBytes)
    if (body.kind === "gone") return undefined
    if (body.kind === "too-large") return { status: 413, error: `the body is larger than ${maxBytes} bytes` }
    const events = parseEvents(body.bytes)
    if ("error" in events) return { status: 400, error: events.error }
    const to = whose(events.lines)
    if (!(to instanceof PostedConnection)) return { status: 503, error: "it is not known whose events these are" }
    const handedOut = await to.handOut(events.lines, response)
    if (handedOut === "gone") return undefined
    if (handedOut === "delivered") this.#onPosted(to)
    return handedOut === "delivered" ? { status: 200 } : { status: 503, error: "the agent's connection is over" }
  }

  async #forgetWhenClosed(address: string, posted: PostedConnection): Promise<void> {
    await posted.closed
    const left = (this.#connections.get(address) ?? []).filter((other) => other !== posted)
    if (left.length > 0) this.#connections.set(address, left)
    else this.#connections.delete(address)
  }
}

/** A 5xx is tried again: the agent's socket may be on its way back. */
const ABSENT: Reply = { status: 503, error: "no agent is connected at the path of these events" }

/** The query belongs to the address: the CLI keeps it. */
function addressOf(path: string, query: URLSearchParams): string {
  return `${path}?${query.toString()}`
}

function answer(response: ServerResponse, reply: Reply): void {
  if (response.destroyed || response.headersSent) return
  const body = `${JSON.stringify(reply.error === undefined ? { ok: true } : { error: reply.error })}\n`
  response.writeHead(reply.status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...(reply.status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(reply.status === 405 ? { allow: "POST" } : {}),
  })
  response.end(body)
}

function ignoreError(): void {}
