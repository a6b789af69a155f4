import { setTimeout as pause } from "node:timers/promises"
import { connectHub, type FollowItem, type Hub, HubClientError } from "@signalbox/client"
import type { CommandContext, DataOption } from "../base/context.ts"
import { findHub, whereHubIs } from "../hub/connect.ts"

/** How long an offline hub is waited for. */
const HUB_PATIENCE_MS = 60 * 60_000
const LOOK_MS = 500
const RECONNECT = { baseDelayMs: 50, maxDelayMs: 1_000 }
/** A runner may take a while to start an agent. */
const TIMEOUT_MS = 120_000

/** A hub that may restart meanwhile, even at another address: calls wait until it is back. */
export class LastingHub {
  /** Called when the hub goes offline and when it is back. */
  onAway: (isAway: boolean) => void = () => undefined
  /** Where it was found. */
  readonly url: string
  /** For calls that must not be repeated. */
  readonly hub: Hub

  constructor(options: DataOption, context: CommandContext) {
    this.url = findHub(options, context).url
    this.hub = connectHub({ ...whereHubIs(options, context), reconnect: RECONNECT, timeoutMs: TIMEOUT_MS })
  }

  /** For calls that may be repeated without harm. */
  async call<Reply>(work: (hub: Hub) => Promise<Reply>, signal?: AbortSignal): Promise<Reply> {
    const deadline = Date.now() + HUB_PATIENCE_MS
    for (let isAway = false; ; isAway = true) {
      try {
        const reply = await work(this.hub)
        if (isAway) this.onAway(false)
        return reply
      } catch (error) {
        if (!isPassing(error) || signal?.aborted === true || Date.now() > deadline) throw error
        if (!isAway) this.onAway(true)
        // Giving up meanwhile fails with the error that was waited out.
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

function isPassing(error: unknown): boolean {
  if (!(error instanceof HubClientError)) return false
  return error.code === "client/unreachable" || error.code === "client/timeout" || error.status === 503
}

/** Refusals that may soon be over: another agent is still stopping, or the runner reconnects. */
const PASSING: ReadonlySet<string> = new Set([
  "runner/full",
  "runner/away",
  "runner/no-answer",
  "hub/busy",
  "store/full",
])
const PATIENCE_MS = 10 * 60_000
const AGAIN_MS = 1_000

/** Retries a call that is refused for the moment. */
export async function passingRefusal<Reply>(work: () => Promise<Reply>, signal: AbortSignal): Promise<Reply> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof HubClientError) || !PASSING.has(reasonOf(error)) || Date.now() > deadline) throw error
      await pause(AGAIN_MS, undefined, { signal })
    }
  }
}

/** A session that could not be resumed says why beside its own code. */
function reasonOf({ code, details }: HubClientError): string {
  const { reason } = details
  return typeof reason === "string" ? reason : code
}

/** A refusal that every task would get. */
export function isOfEveryTask(code: string): boolean {
  return code.startsWith("auth/") || code.startsWith("client/") || code.startsWith("store/")
}

/** A refusal of the task itself: it is too long, for instance. */
export function isOfOneTask(code: string): boolean {
  return code.startsWith("request/")
}
