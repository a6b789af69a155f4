import { hostname, totalmem } from "node:os"
import type { Clock } from "@signalbox/transport"
import { systemClock } from "@signalbox/transport/pacing"
import type { Logger } from "pino"
import type { AgentLimits } from "./governor.ts"
import { DEFAULT_LINK_TIMING, type LinkTiming } from "./link/hub-link.ts"
import { LogTail, type RunnerLog } from "./log-tail.ts"

export interface RunnerLimits extends AgentLimits {
  /** Between the starts of two agents. */
  readonly startSpacingMs: number
  /** Agents that may wait for their start. */
  readonly maxWaitingStarts: number
  /** Bound on one agent's unacknowledged lines in memory; what is beyond it goes to disk. */
  readonly keptMemoryBytes: number
  /** The same, on disk; beyond it, the agent is made to wait. */
  readonly keptDiskBytes: number
  /** The hub away for as long, all that is kept goes to disk. */
  readonly spoolAfterMs: number
  /** How long an agent that is stopped has to end by itself once its input has ended, and then between TERM and KILL. */
  readonly stopGraceMs: number
  readonly killAfterMs: number
  /** Between two looks at what the agents use. */
  readonly statsMs: number
  /** Without an agent and without a hub for as long, a runner ends itself. `Infinity`: never. */
  readonly idleExitMs: number
}

export interface RunnerOptions {
  /** The hub's address, asked at each try; of several hubs on one store, all addresses. Undefined: there is none at present. */
  readonly hubUrl: () => string | readonly string[] | undefined
  /** A token of the role `runner`, asked at each try. */
  readonly token: () => string | undefined
  /** The folder for what must outlive the process; one runner at a time. */
  readonly stateDirectory: string
  readonly log: Logger
  readonly version?: string
  readonly name?: string
  readonly labels?: readonly string[]
  readonly maxAgents?: number
  /** The command of the simulator: executable and leading arguments. */
  readonly simulator?: readonly string[]
  readonly limits?: Partial<RunnerLimits>
  readonly linkTiming?: Partial<LinkTiming>
  readonly clock?: Clock
  /** The process is the runner's alone, so that its heap may be kept small. */
  readonly keepSmall?: boolean
  /** The variables that the agents' environment is made from. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export type RunnerSettings = Required<Omit<RunnerOptions, "limits" | "linkTiming" | "simulator" | "log">> & {
  readonly log: RunnerLog
  readonly logTail: LogTail
  readonly limits: RunnerLimits
  readonly linkTiming: LinkTiming
  readonly simulator: readonly string[] | undefined
}

const GB = 1024 ** 3
const MINUTE_MS = 60_000

const DEFAULT_LIMITS: RunnerLimits = {
  memoryCeilingBytes: 4 * GB,
  memoryGraceMs: 5 * MINUTE_MS,
  parkAfterMs: 60 * MINUTE_MS,
  startSpacingMs: 100,
  maxWaitingStarts: 500,
  keptMemoryBytes: 8 * 1024 * 1024,
  keptDiskBytes: GB,
  spoolAfterMs: 1_000,
  stopGraceMs: 3_000,
  killAfterMs: 5_000,
  statsMs: 5_000,
  idleExitMs: 10 * MINUTE_MS,
}

/** An agent takes 200 to 500 MB. */
const AGENT_BYTES = GB / 2
const [FEWEST, MOST] = [4, 64]

export function settleRunnerOptions(options: RunnerOptions): RunnerSettings {
  const { limits, linkTiming, simulator, log, ...rest } = options
  const logTail = new LogTail(options.clock ?? systemClock)
  return {
    version: "0.1.0",
    name: hostname(),
    labels: [],
    maxAgents: Math.min(MOST, Math.max(FEWEST, Math.floor(totalmem() / AGENT_BYTES))),
    clock: systemClock,
    keepSmall: false,
    env: process.env,
    ...rest,
    simulator,
    log: logTail.beside(log),
    logTail,
    limits: { ...DEFAULT_LIMITS, ...limits },
    linkTiming: { ...DEFAULT_LINK_TIMING, ...linkTiming },
  }
}
