import { defined, parseObject } from "@signalbox/protocol/envelope"
import { quietly, TransportError } from "../errors.ts"
import { assertSendable, type Closed, closedError } from "../transport.ts"
import { type DialledConnection, dialWebSocket } from "../websocket/dial.ts"
import {
  type DialEnvironment,
  type DialOptions,
  type DialSettings,
  dialHeaders,
  readToken,
  settleDialOptions,
} from "../websocket/dial-options.ts"
import type { DialState } from "../websocket/dial-state.ts"
import { presetOf } from "../websocket/presets.ts"
import type { PostPolicy } from "../websocket/retry-policies.ts"
import { eventsUrl } from "./events.ts"
import { type DroppedEvents, PostQueue } from "./post-queue.ts"

export interface HybridDialOptions extends DialOptions {
  /** Parts that differ from the preset's own. */
  readonly post?: Partial<PostPolicy>
  /** Told of events that the server refused for good, or that were tried often enough. */
  readonly onDroppedEvents?: (dropped: DroppedEvents) => void
}

/** WebSocket in, POST out. Throws when it is to post and has no token, where the policy does not put up with that. */
export function dialHybrid(options: HybridDialOptions): DialledConnection {
  const settings = settleDialOptions(options)
  const policy = { ...settings.preset.post, ...options.post }
  const hasToken = readToken(options.token) !== undefined
  if (!hasToken && policy.withoutToken === "refuse") {
    throw new TransportError("transport/misconfigured", "posting events needs a token, and there is none")
  }
  return new HybridDialler(options, settings, hasToken ? createPosts(options, settings, policy) : undefined)
}

function createPosts(options: HybridDialOptions, settings: DialSettings, policy: PostPolicy): PostQueue {
  const headers = () => dialHeaders(options, undefined)
  const onDropped = quietly(options.onDroppedEvents)
  return new PostQueue({ ...settings, url: eventsUrl(settings.url), headers, policy, onDropped })
}

class HybridDialler implements DialledConnection {
  readonly lines: AsyncIterable<string>
  readonly closed: Promise<Closed>
  readonly #socket: DialledConnection
  /** Absent when messages vanish for want of a token. */
  readonly #posts: PostQueue | undefined
  readonly #closeTimeoutMs: number
  #ending: Closed | undefined

  constructor(options: HybridDialOptions, settings: DialSettings, posts: PostQueue | undefined) {
    this.#socket = dialWebSocket(options)
    this.#posts = posts
    this.#closeTimeoutMs = settings.closeTimeoutMs
    this.lines = this.#socket.lines
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
    // A line becomes an element of an array: one that is no JSON object would spoil its neighbours.
    const event = parseObject(line)
    if (event === undefined) {
      throw new TransportError("transport/bad-line", "only a JSON object can be posted as an event")
    }
    await this.#posts?.send(line, event["type"] === "stream_event" ? "stream_event" : "other")
  }

  drop(): void {
    this.#socket.drop()
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

export type SdkUrlOptions = Omit<HybridDialOptions, "url" | "token" | "environmentRunnerVersion">

/** Connects to `--sdk-url` as a CLI with this environment would. */
export function openSdkUrl(url: string | URL, env: DialEnvironment, options: SdkUrlOptions = {}): DialledConnection {
  const preset = presetOf(options.preset)
  const dial: HybridDialOptions = {
    ...options,
    url,
    preset: env.remote ? { ...preset, keepAliveMs: 0 } : preset,
    ...defined({ token: env.token, environmentRunnerVersion: env.environmentRunnerVersion }),
  }
  return env.postsEvents ? dialHybrid(dial) : dialWebSocket(dial)
}
