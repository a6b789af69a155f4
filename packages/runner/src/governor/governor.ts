import { freemem, loadavg } from "node:os"
import { isAtRest } from "@signalbox/protocol/agent-state"
import type { RunnerToHub } from "@signalbox/protocol/runner-wire"
import type { Agent } from "../agents/agent.ts"
import type { Roster } from "../agents/roster.ts"
import { signInFacts } from "../launch/sign-in-facts.ts"
import type { RunnerSettings } from "../options.ts"
import { processTable } from "../state/process-table.ts"
import { judge } from "./judge.ts"
import { smallHeap } from "./small-heap.ts"
import { type CpuSample, cpuSample, type TreeUsage, usageOfTrees } from "./usage.ts"

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
      settings.log.error({ err: error }, "the agents could not be looked at")
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
    log.info({ spawn: agent.spawn, session: agent.record.session, verdict: verdict.kind }, verdict.reason)
    if (verdict.kind === "kill") void agent.kill(verdict.reason)
    else agent.stopWhenIdle({ reason: verdict.reason, parked: true })
  }
}
