import type { Hub } from "@signalbox/client"
import { backoffMs } from "@signalbox/protocol/timing"
import { hubFailure, isForGood, refusal, unreachable } from "./hub-failures.ts"

const BACKOFF = { baseDelayMs: 100, maxDelayMs: 5_000 }

export interface ComingBack {
  readonly hub: Hub
  readonly session: string
  readonly patienceMs: number
  readonly pause: (ms: number) => Promise<void>
  readonly isWanted: () => boolean
  readonly connect: () => Promise<void>
}

/** Tries to connect until it works or nobody wants it any more; rejects for good, or when patience is at its end. */
export async function comeBack(back: ComingBack, lost: unknown): Promise<void> {
  const deadline = Date.now() + back.patienceMs
  let error = lost
  for (let tries = 1; ; tries++) {
    await back.pause(backoffMs(BACKOFF, tries))
    if (!back.isWanted()) return
    try {
      const { state, next } = await back.hub.session(back.session).get()
      // Its log says so, and is read by others.
      return state === "ended" && next === undefined ? undefined : await back.connect()
    } catch (failure) {
      error = failure
    }
    if (isForGood(error)) throw hubFailure(error)
    if (Date.now() >= deadline) {
      const why = error instanceof Error ? error.message : String(error)
      throw unreachable(`the hub did not come back within ${back.patienceMs} ms: ${why}`, error)
    }
  }
}

/** Why a connection was refused is told by a plain call. */
export async function whyRefused({ hub, session }: Pick<ComingBack, "hub" | "session">, said: string): Promise<Error> {
  try {
    await hub.session(session).get()
    return refusal({ code: "client/refused", message: said })
  } catch (error) {
    return hubFailure(error)
  }
}
