import { TransportError } from "../errors.ts"
import { assertSendable, type Closed, closedError } from "../transport.ts"
import { type DialledConnection, dialWebSocket } from "../websocket/dial.ts"
import { type DialOptions, dialHeaders, readToken, settleDialOptions } from "../websocket/dial-options.ts"
import type { DialState } from "../websocket/dial-state.ts"
import { eventsUrl } from "./events-url.ts"
import { type PostPolicy, postPolicies } from "./post-policy.ts"
import { type DroppedEvents, PostQueue } from "./post-queue.ts"

export interface HybridDialOptions extends DialOptions {
  /** Parts that differ from the preset's own. */
  readonly post?: Partial<PostPolicy>
  /** Told of events that the server refused for good, or that were tried often enough. */
  readonly onDroppedEvents?: (dropped: DroppedEvents) => void
}

const DEFAULT_HIGH_WATER_BYTES = 1024 * 1024
const DEFAULT_MAX_WAITING_BYTES = 64 * 1024 * 1024

/** WebSocket in, POST out. Throws when it is to post and has no token, where the policy does not put up with that. */
export function dialHybrid(options: HybridDialOptions): DialledConnection {
  const policy = postPolicyOf(options)
  const hasToken = readToken(options.token) !== undefined
  if (!hasToken && policy.withoutToken === "refuse") {
    throw new TransportError("transport/misconfigured", "posting events needs a token, and there is none")
  }
  return new HybridDialler(options, policy, hasToken)
}

class HybridDialler implements DialledConnection {
  readonly lines: AsyncIterable<string>
  readonly closed: Promise<Closed>
  readonly #socket: DialledConnection
  /** Absent when messages vanish for want of a token. */
  readonly #posts: PostQueue | undefined
  readonly #closeTimeoutMs: number
  #ending: Closed | undefined

  constructor(options: HybridDialOptions, policy: PostPolicy, hasToken: boolean) {
    const settings = settleDialOptions(options)
    this.#socket = dialWebSocket(options)
    this.#closeTimeoutMs = settings.closeTimeoutMs
    this.lines = this.#socket.lines
    if (hasToken) {
      this.#posts = new PostQueue({
        url: eventsUrl(settings.url),
        headers: () => dialHeaders(options, undefined),
        policy,
        highWaterBytes: options.highWaterBytes ?? DEFAULT_HIGH_WATER_BYTES,
        maxWaitingBytes: options.maxWaitingBytes ?? DEFAULT_MAX_WAITING_BYTES,
        clock: settings.clock,
        random: settings.random,
        onDropped: options.onDroppedEvents ?? (() => undefined),
      })
    }
    this.closed = this.#socket.closed.then((closed) => {
      this.#ending = closed
      this.#posts?.stop(closed)
      return closed
    })
  }

  get state(): DialState {
    return this.#socket.state
  }

  async send(line: string): Promise<void> {
    if (this.#ending !== undefined) throw closedError(this.#ending)
    assertSendable(line)
    assertJson(line)
    await this.#posts?.send(line)
  }

  async close(reason = "closed"): Promise<void> {
    if (this.#ending === undefined) {
      this.#ending = { by: "us", reason }
      await this.#posts?.finish(this.#ending, this.#closeTimeoutMs)
      this.#posts?.stop(this.#ending)
      await this.#socket.close(reason)
    }
    await this.closed
  }
}

function postPolicyOf(options: HybridDialOptions): PostPolicy {
  const name = typeof options.preset === "string" ? options.preset : "patient"
  return { ...postPolicies[name], ...options.post }
}

/** A line becomes an element of an array: one that is not JSON would spoil its neighbours. */
function assertJson(line: string): void {
  try {
    JSON.parse(line)
  } catch (cause) {
    throw new TransportError("transport/bad-line", "only JSON can be posted as an event", { cause })
  }
}
