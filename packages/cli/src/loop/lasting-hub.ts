import { setTimeout as pause } from "node:timers/promises"
import { connectHub, type FollowItem, type Hub, HubClientError } from "@signalbox/client"
import type { FoundHub } from "../hub/find-hub.ts"

/** How long a hub that is away is waited for. */
const PATIENCE_MS = 60 * 60_000
const LOOK_MS = 500
const RECONNECT = { baseDelayMs: 50, maxDelayMs: 1_000 }
/** A runner may take a while to start an agent. */
const TIMEOUT_MS = 120_000

/** A hub that may be restarted meanwhile: what is asked of it waits until it is back. */
export class LastingHub {
  /** Told when it goes and when it is back. */
  onAway: (isAway: boolean) => void = () => undefined
  readonly #find: () => FoundHub
  #found: FoundHub
  #hub: Hub

  /** `find` is asked again while the hub is away: it may come back at another address. */
  constructor(find: () => FoundHub) {
    this.#find = find
    this.#found = find()
    this.#hub = this.#connect()
  }

  get url(): string {
    return this.#found.url
  }

  /** As it is now: for what must not be done twice. */
  get current(): Hub {
    return this.#hub
  }

  /** For what may be done twice without harm. */
  async call<Reply>(work: (hub: Hub) => Promise<Reply>, signal?: AbortSignal): Promise<Reply> {
    const deadline = Date.now() + PATIENCE_MS
    for (let isAway = false; ; isAway = true) {
      try {
        const reply = await work(this.#hub)
        if (isAway) this.onAway(false)
        return reply
      } catch (error) {
        if (!isPassing(error) || signal?.aborted === true || Date.now() > deadline) throw error
        if (!isAway) this.onAway(true)
        // Whoever gives up meanwhile is told what was waited for.
        await pause(LOOK_MS, undefined, signal === undefined ? {} : { signal }).catch(() => {
          throw error
        })
        this.#look()
      }
    }
  }

  /** The session's events from `after` on, through whatever happens to the hub. */
  async *follow(session: string, after: number, signal: AbortSignal): AsyncGenerator<FollowItem, undefined> {
    let cursor = after
    for (;;) {
      signal.throwIfAborted()
      const hub = this.#hub
      for await (const item of hub.session(session).follow({ after: cursor, signal })) {
        if (item.type === "event") cursor = item.seq
        if (item.type === "disconnected") this.onAway(true)
        if (item.type === "subscribed") this.onAway(false)
        yield item
      }
      // It ended because the hub is elsewhere now; otherwise because it was closed.
      if (hub === this.#hub) return
    }
  }

  close(): void {
    this.#hub.close()
  }

  #connect(): Hub {
    return connectHub({
      ...this.#found,
      reconnect: RECONNECT,
      timeoutMs: TIMEOUT_MS,
      onRetry: () => this.#look(),
    })
  }

  #look(): void {
    try {
      const found = this.#find()
      if (found.url === this.#found.url) return
      this.#found = found
    } catch {
      // Not yet.
      return
    }
    const before = this.#hub
    this.#hub = this.#connect()
    before.close()
  }
}

const PASSING: ReadonlySet<string> = new Set(["client/unreachable", "client/timeout", "client/closed"])

function isPassing(error: unknown): boolean {
  return error instanceof HubClientError && (PASSING.has(error.code) || error.status === 503)
}
