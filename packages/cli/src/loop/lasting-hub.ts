import { setTimeout as pause } from "node:timers/promises"
import { connectHub, type FollowItem, type Hub, HubClientError } from "@signalbox/client"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { findHub, whereHubIs } from "../hub/find-hub.ts"

/** How long a hub that is away is waited for. */
const PATIENCE_MS = 60 * 60_000
const LOOK_MS = 500
const RECONNECT = { baseDelayMs: 50, maxDelayMs: 1_000 }
/** A runner may take a while to start an agent. */
const TIMEOUT_MS = 120_000

/** A hub that may be restarted meanwhile, also elsewhere: what is asked of it waits until it is back. */
export class LastingHub {
  /** Told when it goes and when it is back. */
  onAway: (isAway: boolean) => void = () => undefined
  /** Where it was found. */
  readonly url: string
  /** For what must not be done twice. */
  readonly hub: Hub

  constructor(options: DataOption, context: CommandContext) {
    this.url = findHub(options, context).url
    this.hub = connectHub({ ...whereHubIs(options, context), reconnect: RECONNECT, timeoutMs: TIMEOUT_MS })
  }

  /** For what may be done twice without harm. */
  async call<Reply>(work: (hub: Hub) => Promise<Reply>, signal?: AbortSignal): Promise<Reply> {
    const deadline = Date.now() + PATIENCE_MS
    for (let isAway = false; ; isAway = true) {
      try {
        const reply = await work(this.hub)
        if (isAway) this.onAway(false)
        return reply
      } catch (error) {
        if (!isPassing(error) || signal?.aborted === true || Date.now() > deadline) throw error
        if (!isAway) this.onAway(true)
        // Whoever gives up meanwhile is told what was waited for.
        await pause(LOOK_MS, undefined, signal === undefined ? {} : { signal }).catch(() => {
          throw error
        })
      }
    }
  }

  /** The session's events from `after` on, through whatever happens to the hub. */
  async *follow(session: string, after: number, signal: AbortSignal): AsyncGenerator<FollowItem, undefined> {
    for await (const item of this.hub.session(session).follow({ after, signal })) {
      if (item.type === "disconnected") this.onAway(true)
      if (item.type === "subscribed") this.onAway(false)
      yield item
    }
  }

  close(): void {
    this.hub.close()
  }
}

const PASSING: ReadonlySet<string> = new Set(["client/unreachable", "client/timeout"])

function isPassing(error: unknown): boolean {
  return error instanceof HubClientError && (PASSING.has(error.code) || error.status === 503)
}
