import type { AgentExit } from "@signalbox/protocol/runner-wire"
import type { LiveSession } from "../session/live-session.ts"
import { earlierOf } from "./launch-plan.ts"
import type { RunnerFleet } from "./runner-fleet.ts"

export interface ProcessEndingsOptions {
  readonly fleet: RunnerFleet
  /** A parked one has something to do already. */
  readonly wake: (session: LiveSession) => void
}

const END_TIMEOUT_MS = 5_000
const STOP_TIMEOUT_MS = 15_000

/** How processes on runners end: by themselves, by somebody's wish, or to rest. */
export class ProcessEndings {
  readonly #options: ProcessEndingsOptions
  readonly #stopping = new Map<LiveSession, { reason: string; ended(): void }>()

  constructor(options: ProcessEndingsOptions) {
    this.#options = options
  }

  /** Ends the session's process and then the session. */
  async stop(session: LiveSession, reason: string): Promise<void> {
    const { launch } = session.kept.own
    if (session.isEnded) return
    if (launch === undefined || launch.spawn === null || !this.#options.fleet.isHere(launch.runner)) {
      return this.end(session, reason)
    }
    const { spawn, runner } = launch
    const ended = new Promise<void>((resolve) => this.#stopping.set(session, { reason, ended: resolve }))
    try {
      // Newer ones end by themselves when asked, in good order.
      if (session.wire !== undefined) {
        await session.ask({ subtype: "end_session" }, END_TIMEOUT_MS).catch(() => undefined)
      }
      const stopped = this.#options.fleet.request(runner, { kind: "stop", spawn, reason }, STOP_TIMEOUT_MS)
      await within(Promise.all([stopped.catch(() => undefined), ended]), STOP_TIMEOUT_MS)
    } finally {
      this.#stopping.delete(session)
    }
    await this.end(session, reason)
  }

  /** Its process is gone, or is to be gone when its runner is back. */
  async end(session: LiveSession, reason: string): Promise<void> {
    forgetProcess(session, false)
    await session.end({ reason })
  }

  /** The runner says that a process of the session is over. */
  async exited(session: LiveSession, spawn: string, exit: AgentExit): Promise<void> {
    // One from before, whose end is told late.
    if (session.kept.own.launch?.spawn !== spawn) return
    const stopping = this.#stopping.get(session)
    const isParked = exit.parked === true && stopping === undefined
    forgetProcess(session, isParked)
    if (isParked) {
      await session.park(exit.reason)
      if (session.messages.waiting > 0) this.#options.wake(session)
      return
    }
    const { code, signal, stderrTail, undelivered = [] } = exit
    await session.messages.takeBack(spawn, undelivered)
    const reason = stopping?.reason ?? exit.reason
    const how = { ...(code === undefined ? {} : { code }), ...(signal === undefined ? {} : { signal }) }
    await session.end({ reason, ...how }, stderrTail === undefined ? {} : { stderrTail })
    stopping?.ended()
  }
}

function forgetProcess(session: LiveSession, isParked: boolean): void {
  const { launch } = session.kept.own
  if (launch === undefined) return
  session.changeOwn({ launch: { ...launch, spawn: null, earlier: earlierOf(launch), isParked } })
}

async function within(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
