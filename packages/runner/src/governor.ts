import { freemem, loadavg } from "node:os"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { isAtRest } from "@signalbox/protocol/agent-state"
import type { RunnerToHub } from "@signalbox/protocol/runner-wire"
import type { Agent } from "./agents/agent.ts"
import type { Roster } from "./agents/roster.ts"
import { signInFacts } from "./launch/executable.ts"
import type { RunnerSettings } from "./options.ts"
import { type CpuSample, cpuSample, processTable, type TreeUsage, usageOfTrees } from "./state/process-table.ts"

export interface GovernorOptions {
  readonly settings: RunnerSettings
  readonly roster: Roster
  readonly onStats: (stats: Extract<RunnerToHub, { op: "stats" }>) => void
}

/** Looks at the agents every few seconds, tells what they use, and holds them to the limits. */
export class Governor {
  readonly #options: GovernorOptions
  readonly #overSince = new WeakMap<Agent, number>()
  #usage: ReadonlyMap<number, TreeUsage> = new Map()
  #sample: CpuSample | undefined
  #cancel = () => undefined as void
  #isClosed = false
  readonly #tidy: () => void

  constructor(options: GovernorOptions) {
    this.#options = options
    this.#tidy = options.settings.keepSmall ? smallHeap() : () => undefined
  }

  usageOf(pid: number): TreeUsage | undefined {
    return this.#usage.get(pid)
  }

  start(): void {
    if (this.#isClosed) return
    const { clock, limits } = this.#options.settings
    this.#cancel = clock.after(limits.statsMs, () => void this.#look().finally(() => this.start()), "idle")
  }

  close(): void {
    this.#isClosed = true
    this.#cancel()
  }

  async #look(): Promise<void> {
    const { roster, settings, onStats } = this.#options
    try {
      const living = roster.living
      // The whole machine is looked at for it, so not for nothing.
      if (living.length > 0) await this.#measure(living)
      onStats({
        op: "stats",
        memoryBytes: process.memoryUsage.rss(),
        freeMemoryBytes: freemem(),
        loadAverage: loadavg()[0] ?? 0,
        ...signInFacts(settings.env),
        agents: roster.usage((pid) => this.usageOf(pid), "living"),
      })
      for (const agent of living) this.#hold(agent)
      this.#tidy()
    } catch (error) {
      settings.log.error({ err: error }, "Couldn't read the agents' memory and CPU use")
    }
  }

  async #measure(agents: readonly Agent[]): Promise<void> {
    const table = await processTable()
    const now = this.#options.settings.clock.now()
    const roots = agents.map(({ record }) => record.launched.pid)
    this.#usage = usageOfTrees(roots, table, { before: this.#sample, now })
    this.#sample = cpuSample(table, now)
  }

  #hold(agent: Agent): void {
    const { clock, limits, log } = this.#options.settings
    const now = clock.now()
    const memoryBytes = this.usageOf(agent.record.launched.pid)?.memoryBytes ?? 0
    const isOver = memoryBytes > limits.memoryCeilingBytes
    const overSince = isOver ? (this.#overSince.get(agent) ?? now) : now
    if (isOver) this.#overSince.set(agent, overSince)
    else this.#overSince.delete(agent)
    const { activity } = agent
    const idleForMs = now - activity.lastAt
    const verdict = judge(
      { memoryBytes, isIdle: isAtRest(activity.agent), idleForMs, overForMs: now - overSince },
      limits,
    )
    if (verdict.kind === "leave") return
    log.info({ incarnation: agent.incarnation, session: agent.record.session, verdict: verdict.kind }, verdict.reason)
    if (verdict.kind === "kill") void agent.kill(verdict.reason)
    else agent.stopWhenIdle({ reason: verdict.reason, parked: true })
  }
}

/** The governor's act on one agent now. */
export type Judgement =
  | { readonly kind: "leave" }
  /**
   * "park": idle for so long that it is put to rest, and brought back by the next message. "stop-when-idle": too large, so at
   * the end of its turn, and brought back small.
   */
  | { readonly kind: "park" | "stop-when-idle" | "kill"; readonly reason: string }

export interface AgentLimits {
  /** Counts the agent and every process it started. */
  readonly memoryCeilingBytes: number
  /** How long an agent above its ceiling may go on with its turn. */
  readonly memoryGraceMs: number
  /** Idle for as long, it is put to rest. `Infinity`: never. */
  readonly parkAfterMs: number
}

export interface JudgedAgent {
  readonly memoryBytes: number
  readonly isIdle: boolean
  readonly idleForMs: number
  /** For how long it has been above its ceiling. */
  readonly overForMs: number
}

/** Above the ceiling by as much, waiting for the turn's end would endanger everything else. */
const FAR_ABOVE = 1.5

export function judge(agent: JudgedAgent, limits: AgentLimits): Judgement {
  const { memoryBytes } = agent
  const { memoryCeilingBytes, memoryGraceMs, parkAfterMs } = limits
  if (memoryBytes > memoryCeilingBytes) {
    const reason = `memory: ${mb(memoryBytes)} with all it started, above the ceiling of ${mb(memoryCeilingBytes)}`
    const isFarAbove = !agent.isIdle && memoryBytes > memoryCeilingBytes * FAR_ABOVE
    const isUrgent = isFarAbove || agent.overForMs > memoryGraceMs
    return { kind: isUrgent ? "kill" : "stop-when-idle", reason }
  }
  if (agent.isIdle && agent.idleForMs >= parkAfterMs) {
    return { kind: "park", reason: `parked after ${Math.round(agent.idleForMs / 1000)} s without work` }
  }
  return { kind: "leave" }
}

function mb(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`
}

/** Worth a collection, which takes some 20 ms. */
const GARBAGE_BYTES = 2 * 1024 * 1024

/**
 * Keeps the heap of a process that lives for weeks, and has little that does, small: left to itself it grows with the busiest moment
 * it has seen, by 40 MB and more, and gives nothing back. Called now and then, when there is time.
 */
function smallHeap(): () => void {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  let usedBytes = 0
  return () => {
    if (typeof collect !== "function" || process.memoryUsage().heapUsed < usedBytes + GARBAGE_BYTES) return
    collect()
    usedBytes = process.memoryUsage().heapUsed
  }
}
