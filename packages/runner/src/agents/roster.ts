import { join } from "node:path"
import { counted } from "@signalbox/protocol"
import { type AgentUsage, type Launched, type LaunchSpec, readFromRunner } from "@signalbox/protocol/runner-wire"
import type { Clock } from "@signalbox/transport"
import { ReadingTurns } from "@signalbox/transport/process"
import { Refusal } from "../errors.ts"
import type { Launcher } from "../launch/launcher.ts"
import type { SecretFiles } from "../launch/secret-files.ts"
import { KeptLines } from "../lines/kept-lines.ts"
import type { LinkSettings } from "../link/hub-link.ts"
import type { RunnerLimits, RunnerSettings } from "../options.ts"
import type { TreeUsage } from "../state/process-table.ts"
import type { AgentRecord, StateFile } from "../state/state-file.ts"
import { Leftovers } from "../state/sweep.ts"
import { Agent } from "./agent.ts"
import { ChangeReader } from "./folder.ts"

export interface RosterOptions {
  readonly settings: RunnerSettings
  readonly state: StateFile
  readonly launcher: Launcher
  readonly secrets: SecretFiles
  readonly link: LinkSettings
  readonly isHubThere: () => boolean
  /** An agent came or went. */
  readonly onChange: () => void
}

type StartLimits = Pick<RunnerLimits, "startSpacingMs" | "maxWaitingStarts">

const LAST_WORDS_MS = 1_000
export const KILLED = "the runner was killed"

interface Launching {
  readonly spec: LaunchSpec
  readonly launched: Promise<Launched>
}

/** The agents of this runner: those that live, and those of which the hub does not have everything yet. */
export class Roster {
  readonly #options: RosterOptions
  readonly #agents = new Map<string, Agent>()
  readonly #launching = new Map<string, Launching>()
  readonly #leftovers: Leftovers
  /** The processes that are over and not forgotten yet, by incarnation: settles when nothing that they started is left. */
  readonly #ended = new Map<string, Promise<void>>()
  /** Agents that are being cleared away; they write in our directory until that is done. */
  readonly #leaving = new Set<Promise<void>>()
  readonly #changes: ChangeReader
  readonly #turns = new ReadingTurns()
  readonly #startsInTurn: () => Promise<void>
  #isClosing = false
  #onEmpty: () => void = () => undefined

  constructor(options: RosterOptions) {
    this.#options = options
    const { limits, clock, log } = options.settings
    this.#leftovers = new Leftovers({ killAfterMs: limits.killAfterMs, log })
    this.#changes = new ChangeReader(options.settings)
    this.#startsInTurn = startGate(limits, clock)
  }

  get living(): readonly Agent[] {
    return [...this.#agents.values()].filter((agent) => agent.isLiving)
  }

  /** Living, or about to. */
  get count(): number {
    return this.living.length + this.#launching.size
  }

  /** For the hub's first impression: also those that are over, as long as it does not know. */
  usage(of: (pid: number) => TreeUsage | undefined, which: "all" | "living"): AgentUsage[] {
    const agents = which === "all" ? [...this.#agents.values()] : this.living
    return agents.map(({ incarnation, record }) => {
      const { memoryBytes = 0, cpuPercent = 0 } = of(record.launched.pid) ?? {}
      return { spawn: incarnation, session: record.session, pid: record.launched.pid, memoryBytes, cpuPercent }
    })
  }

  /** The same incarnation again is the same process again. */
  async launch(spec: LaunchSpec): Promise<Launched> {
    const known = this.#agents.get(spec.spawn)?.record.launched ?? this.#launching.get(spec.spawn)?.launched
    if (known !== undefined) return known
    this.#requireRoom(spec)
    const launched = this.#launch(spec, this.#beginningsOf(spec.resume))
    this.#launching.set(spec.spawn, { spec, launched })
    try {
      return await launched
    } finally {
      this.#launching.delete(spec.spawn)
      this.#options.onChange()
    }
  }

  async stop(incarnation: string, reason: string): Promise<void> {
    const agent = this.#agents.get(incarnation) ?? (await this.#afterLaunch(incarnation))
    if (agent === undefined) {
      throw new Refusal(
        "runner/unknown-agent",
        `no process ${incarnation} is on this runner: it has ended, or never was here`,
      )
    }
    await agent.stop({ reason })
  }

  /** The hub is there: connections that rest are worth a try. */
  wake(): void {
    for (const agent of this.#agents.values()) agent.wake()
  }

  /** Takes over what an earlier runner left. Returns those of which nothing is left to tell. */
  async recover(records: readonly AgentRecord[]): Promise<AgentRecord[]> {
    const silent: AgentRecord[] = []
    for (const record of records) {
      const kept = await KeptLines.recover(this.#keptOptions(record))
      if (kept === undefined) {
        silent.push(record)
        continue
      }
      const agent = this.#adopt(new Agent(this.#agentOptions(record, kept)))
      agent.finish(hasExit(kept) ? undefined : { reason: KILLED })
    }
    return silent
  }

  /** Ends every agent. What the hub does not have is on disk afterwards. */
  async close(reason: string): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled([...this.#launching.values()].map(({ launched }) => launched))
    await Promise.allSettled(this.living.map((agent) => agent.stop({ reason })))
    if (this.#options.isHubThere()) await this.#allLetGo()
    await Promise.allSettled([...this.#agents.values()].map((agent) => agent.close(reason)))
    await Promise.allSettled([...this.#leaving, ...this.#ended.values()])
  }

  /** A hub that is there takes the last of them at once; one that is slow gets it from the next runner. */
  async #allLetGo(): Promise<void> {
    if (this.#agents.size === 0) return
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve
      this.#options.settings.clock.after(LAST_WORDS_MS, resolve, "idle")
    })
  }

  #requireRoom({ spawn: incarnation }: LaunchSpec): void {
    const { maxAgents } = this.#options.settings
    if (this.#isClosing) throw new Refusal("runner/full", "this runner is stopping: use another, or start it again")
    if (this.#ended.has(incarnation) || this.#options.state.state.over.includes(incarnation)) {
      throw new Refusal(
        "runner/spawn-failed",
        `process ${incarnation} was started before and is over: launch a new one`,
      )
    }
    if (this.count < maxAgents) return
    const message = `this runner has its ${counted(maxAgents, "agent")}: stop one, raise --max-agents, or use another runner`
    throw new Refusal("runner/full", message)
  }

  /** Agents that are being started on the same conversation. Whether that is in use is only known when it is done. */
  #beginningsOf(resume: string | undefined): readonly Promise<Launched>[] {
    if (resume === undefined) return []
    return [...this.#launching.values()].flatMap(({ spec, launched }) => (spec.resume === resume ? launched : []))
  }

  async #launch(spec: LaunchSpec, after: readonly Promise<Launched>[]): Promise<Launched> {
    await Promise.allSettled(after)
    await this.#startsInTurn()
    if (this.#isClosing) throw new Refusal("runner/full", "this runner is stopping: use another, or start it again")
    const { child, record } = await this.#options.launcher.start(spec)
    try {
      // Written down before it is told anything: until then the end of its input ends it, whatever becomes of us.
      await this.#options.state.update(({ agents }) => ({ agents: [...agents, record] }))
    } catch (cause) {
      await child.close("it could not be written down")
      await this.#options.secrets.remove(spec.spawn)
      await this.#forget(spec.spawn).catch(() => undefined)
      throw cause
    }
    const agent = this.#adopt(new Agent(this.#agentOptions(record, new KeptLines(this.#keptOptions(record))), child))
    agent.wake()
    const { spawn: incarnation, pid } = record.launched
    this.#options.settings.log.info({ incarnation, pid, session: record.session }, "Agent started")
    return record.launched
  }

  async #afterLaunch(incarnation: string): Promise<Agent | undefined> {
    await this.#launching.get(incarnation)?.launched.catch(() => undefined)
    return this.#agents.get(incarnation)
  }

  #adopt(agent: Agent): Agent {
    this.#agents.set(agent.incarnation, agent)
    return agent
  }

  #agentOptions(record: AgentRecord, kept: KeptLines) {
    const { settings, link, isHubThere, onChange, secrets } = this.#options
    const { spawn: incarnation } = record.launched
    return {
      ...link,
      record,
      kept,
      turns: this.#turns,
      changes: this.#changes,
      mayDial: isHubThere,
      spoolAfterMs: settings.limits.spoolAfterMs,
      onExit: () => {
        const ended = [this.#leftovers.end(record), secrets.remove(incarnation)]
        this.#ended.set(
          incarnation,
          Promise.all(ended).then(() => undefined),
        )
        onChange()
      },
      onOver: (agent: Agent) => {
        const leaving: Promise<void> = this.#letGo(agent).finally(() => this.#leaving.delete(leaving))
        this.#leaving.add(leaving)
      },
    }
  }

  #keptOptions({ launched }: AgentRecord) {
    const { settings } = this.#options
    return {
      folder: join(settings.stateDirectory, "spool", launched.spawn),
      memoryBytes: settings.limits.keptMemoryBytes,
      spoolBytes: settings.limits.keptDiskBytes,
      clock: settings.clock,
      onDiskTrouble: (error: unknown) => {
        settings.log.error({ err: error, incarnation: launched.spawn }, "Couldn't write messages for the hub to disk")
      },
    }
  }

  async #forget(incarnation: string): Promise<void> {
    await this.#options.state.update(({ agents, over }) => ({
      agents: agents.filter(({ launched }) => launched.spawn !== incarnation),
      over: [...over, incarnation],
    }))
  }

  async #letGo(agent: Agent): Promise<void> {
    const { settings, onChange } = this.#options
    this.#agents.delete(agent.incarnation)
    if (this.#agents.size === 0) this.#onEmpty()
    try {
      // Until nothing of it is left it is written down, or a runner that is killed meanwhile leaves it running for good.
      await this.#ended.get(agent.incarnation)
      await this.#forget(agent.incarnation)
      await agent.remove()
    } catch (error) {
      settings.log.error({ err: error, incarnation: agent.incarnation }, "Couldn't clean up after an agent that ended")
    }
    this.#ended.delete(agent.incarnation)
    onChange()
  }
}

/** Whether the last word about a process's end is there already. */
function hasExit({ recoveredLastFrame }: KeptLines): boolean {
  const last = recoveredLastFrame === undefined ? undefined : readFromRunner(recoveredLastFrame)
  return last?.kind === "note" && last.note.kind === "exited"
}

/** Starts one after the other: a machine that starts many agents at once does nothing else for a while. */
export function startGate(limits: StartLimits, clock: Clock): () => Promise<void> {
  const { startSpacingMs, maxWaitingStarts } = limits
  let nextAt = 0
  let waiting = 0
  return async () => {
    const now = clock.now()
    const at = Math.max(now, nextAt)
    if (at > now && waiting >= maxWaitingStarts) {
      const message = `${maxWaitingStarts} agents wait to be started on this runner: try again in a moment`
      throw new Refusal("runner/full", message)
    }
    nextAt = at + startSpacingMs
    if (at === now) return
    waiting++
    await new Promise<void>((resolve) => clock.after(at - now, resolve))
    waiting--
  }
}
