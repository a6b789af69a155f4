import type { AgentExit, RunnerRequest } from "@signalbox/protocol/runner-wire"
import { HubError } from "../errors.ts"
import type { LiveSession } from "../session/live-session.ts"
import { earlierOf } from "./launch-plan.ts"
import type { RunnerFleet } from "./runner-fleet.ts"

const END_TIMEOUT_MS = 5_000
const STOP_TIMEOUT_MS = 15_000
/** An agent that ends again and again without a turn is not brought back by the hub alone. */
const MAX_RETURNS = 3

/** How processes on runners end: by themselves, by somebody's wish, or to rest. */
export class ProcessEndings {
  readonly #fleet: RunnerFleet
  readonly #stopping = new Map<LiveSession, { reason: string; ended(): void }>()
  /** How often a session was brought back for what waited, and at which of its turns. */
  readonly #returns = new WeakMap<LiveSession, { turns: number; count: number }>()

  constructor(fleet: RunnerFleet) {
    this.#fleet = fleet
  }

  /** Ends the session's process and then the session. */
  async stop(session: LiveSession, reason: string): Promise<void> {
    // A process that is being started for it is not wanted any more either.
    session.step({ kind: "stopped" })
    const { launch } = session.kept.own
    if (session.isEnded) return
    if (launch === undefined || launch.spawn === null || !this.#fleet.isHere(launch.runner)) {
      return this.end(session, reason)
    }
    const { spawn, runner } = launch
    const ended = new Promise<void>((resolve) => this.#stopping.set(session, { reason, ended: resolve }))
    try {
      // Newer ones end by themselves when asked, in good order.
      if (session.wire !== undefined) {
        await session.ask({ subtype: "end_session" }, END_TIMEOUT_MS).catch(() => undefined)
      }
      const stopped = this.#fleet.request(runner, { kind: "stop", spawn, reason }, STOP_TIMEOUT_MS)
      await within(Promise.all([stopped.catch(() => undefined), ended]), STOP_TIMEOUT_MS)
    } finally {
      this.#stopping.delete(session)
    }
    await this.end(session, reason)
  }

  /** Its process is gone, or is to be gone when its runner is back. */
  async end(session: LiveSession, reason: string): Promise<void> {
    const spawn = session.kept.own.launch?.spawn
    await session.end({ reason, over: () => forgetProcess(session, spawn) })
  }

  /** Its process is gone without a word of its own. */
  async lost(session: LiveSession, reason: string): Promise<void> {
    const isStopped = this.#stopping.has(session)
    await this.end(session, reason)
    if (!isStopped) this.#bringBack(session)
  }

  /** The runner says that a process of the session is over. */
  async exited(session: LiveSession, spawn: string, exit: AgentExit): Promise<void> {
    // One from before, whose end is told late.
    if (!isProcessOf(session, spawn)) return
    const { code, signal, stderrTail, undelivered = [], lastReceived } = exit
    const isResting = exit.parked === true
    const named = { uuids: undelivered, ...(lastReceived === undefined ? {} : { lastReceived }) }
    // As long as this is not done the process is not forgotten: a hub that is killed here is told its end again.
    session.letGo(exit.reason)
    await session.messages.takeBack(spawn, isResting ? "unconfirmed" : named)
    if (!isProcessOf(session, spawn)) return
    const stopping = this.#stopping.get(session)
    const isParked = isResting && stopping === undefined
    const over = () => forgetProcess(session, spawn)
    if (isParked) {
      await session.park({ reason: exit.reason, over })
      if (session.messages.waiting > 0) session.wantAgent()
      return
    }
    const reason = stopping?.reason ?? exit.reason
    const how = { ...(code === undefined ? {} : { code }), ...(signal === undefined ? {} : { signal }) }
    await session.end({ reason, ...how, over, ...(stderrTail !== undefined && { details: { stderrTail } }) })
    stopping?.ended()
    if (stopping === undefined) this.#bringBack(session)
  }

  /** An accepted message is not to wait for somebody's next one. */
  #bringBack(session: LiveSession): void {
    if (session.messages.waiting === 0 || !session.isEnded) return
    const { turns } = session.record
    const before = this.#returns.get(session)
    const count = before?.turns === turns ? before.count + 1 : 1
    if (count > MAX_RETURNS) return
    this.#returns.set(session, { turns, count })
    session.wantAgent()
  }
}

function isProcessOf({ kept }: LiveSession, spawn: string): boolean {
  return kept.own.launch?.spawn === spawn
}

/** Unless another has been started since. */
function forgetProcess(session: LiveSession, spawn: string | null | undefined): void {
  const { launch } = session.kept.own
  if (launch === undefined || launch.spawn !== spawn) return
  session.changeOwn({ launch: { ...launch, spawn: null, earlier: earlierOf(launch) } })
}

async function within(work: Promise<unknown>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

type Ask = (request: RunnerRequest, timeoutMs: number) => Promise<unknown>

/** Bound for one session. A forgotten process is stopped when it, or its runner, says hello. */
const MAX_STRAYS = 20
const MAX_SESSIONS = 1_000
/** The runner has heard it or not: only these leave that open. */
const UNHEARD: ReadonlySet<string> = new Set(["runner/no-answer", "runner/away", "hub/busy"])

/**
 * Processes that were started for a session and that it does not want, or that may have been: a launch whose answer never
 * came. As long as one lives its conversation is in use, so no other is started before it is gone.
 */
export class StrayProcesses {
  readonly #spawns = new Map<string, Set<string>>()
  readonly #stopping = new Map<string, Promise<void>>()

  /** Whether one of this session may still live. */
  has(sessionId: string): boolean {
    return this.#spawns.has(sessionId)
  }

  add(sessionId: string, spawn: string): void {
    const spawns = this.#spawns.get(sessionId) ?? new Set()
    this.#spawns.set(sessionId, spawns.add(spawn))
    const [oldest] = spawns
    if (spawns.size > MAX_STRAYS && oldest !== undefined) spawns.delete(oldest)
    const [first] = this.#spawns.keys()
    if (this.#spawns.size > MAX_SESSIONS && first !== undefined) this.#spawns.delete(first)
  }

  /** Has all of a session stopped. Resolves when each is gone, or was not to be reached in time. */
  async stop(sessionId: string, ask: Ask): Promise<void> {
    const spawns = [...(this.#spawns.get(sessionId) ?? [])]
    await Promise.all(spawns.map((spawn) => this.#stopOnce(sessionId, spawn, ask)))
  }

  #stopOnce(sessionId: string, spawn: string, ask: Ask): Promise<void> {
    const underWay = this.#stopping.get(spawn)
    if (underWay !== undefined) return underWay
    const stopping = this.#stop(sessionId, spawn, ask).finally(() => this.#stopping.delete(spawn))
    this.#stopping.set(spawn, stopping)
    return stopping
  }

  async #stop(sessionId: string, spawn: string, ask: Ask): Promise<void> {
    try {
      await ask({ kind: "stop", spawn, reason: "its session does not want it any more" }, STOP_TIMEOUT_MS)
    } catch (error) {
      // Any other refusal says that there is no such process.
      if (!(error instanceof HubError) || UNHEARD.has(error.code)) return
    }
    const spawns = this.#spawns.get(sessionId)
    spawns?.delete(spawn)
    if (spawns?.size === 0) this.#spawns.delete(sessionId)
  }
}
