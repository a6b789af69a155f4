import { setTimeout as pause } from "node:timers/promises"
import type { RunnerToHub } from "@signalbox/protocol/runner-wire"
import { COME_BACK } from "@signalbox/transport"
import { HubError } from "../errors.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { SessionRegistry } from "../session/session-registry.ts"
import type { LaunchDesk } from "./launch-desk.ts"
import { runnerOf } from "./launch-plan.ts"
import type { ProcessEndings } from "./process-endings.ts"
import type { RunnerClaims, RunnerRefusals } from "./runner-claims.ts"
import type { Cut, Hello, RunnerConnection, RunnerListener } from "./runner-connection.ts"
import type { RunnerFleet } from "./runner-fleet.ts"

export interface RunnerDeskOptions {
  readonly registry: SessionRegistry
  readonly fleet: RunnerFleet
  readonly claims: RunnerClaims
  readonly refusals: RunnerRefusals
  readonly launches: LaunchDesk
  readonly endings: ProcessEndings
  /** The hub, as it names itself to runners. */
  readonly hub: () => string
  readonly now?: () => Date
  readonly missingGraceMs?: number
  /** Other hubs have runners and sessions too. */
  readonly isShared?: boolean
}

/** A process that is over may have its last words on their way by a connection of its own. */
const MISSING_GRACE_MS = 15_000
const CUT_AGAIN_MS = 500

/** Brings what a runner has and what the hub thinks it has together, each time it comes. */
export class RunnerDesk implements RunnerListener {
  readonly #options: RunnerDeskOptions
  readonly #ids = new Map<RunnerConnection, string>()
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(options: RunnerDeskOptions) {
    this.#options = options
  }

  async hello(connection: RunnerConnection, hello: Hello): Promise<void> {
    const { fleet, claims, refusals, launches, hub, isShared } = this.#options
    const { id } = hello.runner
    if (isShared === true) await claims.refresh(id)
    if (!claims.claim(id, connection.tokenId)) return refusals.refuse(connection, id)
    if (isShared === true) {
      // The store says which of two that come to two hubs at the same time was first.
      await claims.settled()
      if (claims.ownerOf(id) !== connection.tokenId) return refusals.refuse(connection, id)
    }
    this.#ids.set(connection, id)
    fleet.join(connection, hello.runner, hello.agents)
    connection.tell({ ev: "welcome", hub: hub() })
    await this.#stopStrays(hello)
    const left = await this.#noteCut(connection, id, hello.cut)
    if (left.length > 0) void this.#keepNoting(connection, id, left)
    for (const session of this.#sessionsOn(id)) session.change({ runnerSeenAt: this.#now() })
    this.#watchMissing(id, new Set(hello.agents.map(({ spawn }) => spawn)))
    for (const session of this.#sessionsOn(id)) if (session.messages.waiting > 0) session.wantAgent()
    launches.wakeAll(id)
  }

  stats(connection: RunnerConnection, stats: Extract<RunnerToHub, { op: "stats" }>): void {
    const id = this.#ids.get(connection)
    if (id === undefined) return
    this.#options.fleet.told(connection, id, stats)
    this.#options.launches.wakeAll(id)
  }

  gone(connection: RunnerConnection): void {
    const id = this.#ids.get(connection)
    this.#ids.delete(connection)
    if (id === undefined || !this.#options.fleet.leave(connection, id)) return
    for (const session of this.#sessionsOn(id)) session.change({ runnerSeenAt: this.#now() })
  }

  /** The session that this process belongs to, alive or not; undefined when none knows it. */
  async sessionOf(sessionId: string, spawn: string): Promise<LiveSession | undefined> {
    const session = await this.#options.registry.newestOf(sessionId)
    const { launch } = session?.kept.own ?? {}
    return launch?.spawn === spawn || launch?.earlier.includes(spawn) === true ? session : undefined
  }

  /** Whether this token speaks for the runner that has the process. */
  async mayAttach(
    { kept }: LiveSession,
    spawn: string,
    tokenId: string,
  ): Promise<"yes" | "not yet" | { readonly runner: string }> {
    const runner = kept.own.launch === undefined ? undefined : runnerOf(kept.own.launch, spawn)
    if (runner === undefined) return "yes"
    const { claims, isShared } = this.#options
    // It may have said hello to another hub.
    if (isShared === true && claims.ownerOf(runner) === undefined) await claims.refresh(runner)
    const owner = claims.ownerOf(runner)
    if (owner === undefined) return "not yet"
    return owner === tokenId ? "yes" : { runner }
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  /** @returns those whose session another hub has, and does not give away now */
  async #noteCut(connection: RunnerConnection, id: string, cut: readonly Cut[]): Promise<readonly Cut[]> {
    const noted: string[] = []
    for (const each of cut) if (await this.#endCut(id, each)) noted.push(each.spawn)
    if (noted.length > 0) connection.tell({ ev: "noted", spawns: noted })
    return cut.filter(({ spawn }) => !noted.includes(spawn))
  }

  /** Until all are noted, or the runner is gone and tells of them again. */
  async #keepNoting(connection: RunnerConnection, id: string, cut: readonly Cut[]): Promise<void> {
    try {
      for (let left = cut; left.length > 0 && this.#ids.has(connection); ) {
        await pause(CUT_AGAIN_MS, undefined, { ref: false })
        if (this.#ids.has(connection)) left = await this.#noteCut(connection, id, left)
      }
    } catch {
      await connection.end(COME_BACK, "the hub could not note which agents are over").catch(() => undefined)
    }
  }

  /** False: another hub has the session and does not give it away now. */
  async #endCut(runner: string, { session: sessionId, spawn, reason }: Cut): Promise<boolean> {
    try {
      await this.#options.registry.take(sessionId, spawn)
      const session = await this.sessionOf(sessionId, spawn)
      const { launch } = session?.kept.own ?? {}
      if (session === undefined || launch?.spawn !== spawn || launch.runner !== runner) return true
      await this.#options.endings.lost(session, reason === "" ? "the runner was killed" : reason)
      return true
    } catch (error) {
      // The hub that has the session forgot the process long ago.
      if (error instanceof HubError && error.code === "session/no-agent") return true
      if (!isMoved(error)) throw error
      return false
    }
  }

  /** A runner has connected to another hub: what this one takes for alive on it may be over. It may be well again, too. */
  elsewhere(id: string, isNew: boolean): void {
    if (isNew) this.#watchMissing(id, new Set())
    this.#options.launches.wakeAll(id)
  }

  /** Sessions of a hub that is gone are this one's now. Their runners may have told it, and not this one, which processes are over. */
  adopted(): void {
    const runners = new Set([...this.#options.registry.allLoaded()].map(({ kept }) => kept.own.launch?.runner))
    for (const id of runners) if (id !== undefined && this.#options.fleet.isHere(id)) this.#watchMissing(id, new Set())
  }

  /** Processes that no session wants any more: it was stopped, or another took their place, while the runner was away. */
  async #stopStrays({ runner, agents }: Hello): Promise<void> {
    const { launches, registry } = this.#options
    for (const { session, spawn } of agents) {
      const owner = await this.sessionOf(session, spawn).catch(elsewhereIfMoved)
      // Another hub has its session, and knows it or not when it comes there.
      if (owner === "elsewhere") continue
      const isStarting = registry.loaded(session)?.launch?.spawn === spawn
      if (owner?.kept.own.launch?.spawn === spawn || isStarting) continue
      if (owner !== undefined && !isOn(owner, spawn, runner.id)) continue
      // The conversation may have gone on in another session, which would meet it there.
      const newest = owner ?? (await registry.newestOf(session).catch(elsewhereIfMoved))
      if (newest === "elsewhere") continue
      // A hub may be starting it: it is asked when the process comes.
      if (newest === undefined && this.#options.isShared === true) continue
      void launches.stopStray(newest?.id ?? session, { runner: runner.id, spawn })
    }
  }

  /** A process that the hub takes for alive and the runner does not have is over, unless it still says so itself. */
  #watchMissing(id: string, alive: ReadonlySet<string>): void {
    const missing = this.#sessionsOn(id).flatMap((session) => {
      const spawn = session.kept.own.launch?.spawn
      return spawn == null || alive.has(spawn) || session.wire !== undefined ? [] : [{ id: session.id, spawn }]
    })
    if (missing.length === 0) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      for (const entry of missing) void this.#endMissing(entry)
    }, this.#options.missingGraceMs ?? MISSING_GRACE_MS)
    timer.unref()
    this.#timers.add(timer)
  }

  async #endMissing({ id, spawn }: { readonly id: string; readonly spawn: string }): Promise<void> {
    const { fleet, registry } = this.#options
    // It may have gone to another hub and come back since.
    const session = registry.loaded(id)
    const launch = session?.kept.own.launch
    if (session === undefined || launch?.spawn !== spawn || session.wire !== undefined) return
    // It was started since, or the runner knew it all the time. One that is away tells what it has when it is back.
    if (!fleet.isHere(launch.runner) || fleet.hasProcess(launch.runner, spawn)) return
    await this.#options.endings.lost(session, "its process is gone from the runner").catch(() => undefined)
  }

  /** Those with a process, or with messages for one, are in memory. */
  #sessionsOn(id: string): readonly LiveSession[] {
    return [...this.#options.registry.allLoaded()].filter(
      (session) => !session.isEnded && session.kept.own.launch?.runner === id,
    )
  }

  #now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }
}

function isMoved(error: unknown): boolean {
  return error instanceof HubError && (error.code === "hub/moved" || error.code === "hub/unreachable")
}

function elsewhereIfMoved(error: unknown): "elsewhere" {
  if (!isMoved(error)) throw error
  return "elsewhere"
}

function isOn({ kept }: LiveSession, spawn: string, runner: string): boolean {
  const known = kept.own.launch === undefined ? undefined : runnerOf(kept.own.launch, spawn)
  return known === undefined || known === runner
}
