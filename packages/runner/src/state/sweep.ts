import { readFileSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"
import { systemCode } from "../errors.ts"
import type { RunnerLog } from "../log-tail.ts"
import { type ProcessEntry, processTable } from "./process-table.ts"
import type { AgentRecord } from "./state-file.ts"

/**
 * In the environment of an agent and so of all it starts: by this a process that left its parents and its group is still
 * known for ours. The value is the id of its incarnation, which is random: no other process has it by chance.
 */
export const SPAWN_VARIABLE = "CLAUDE_RUNNER_SPAWN"

export interface SweepOptions {
  readonly killAfterMs: number
  readonly pollMs?: number
  /** Their processes ended a moment ago, so that a group with their number is still theirs although its leader is gone. */
  readonly haveJustEnded?: boolean
}

const POLL_MS = 50
const AFTER_KILL_MS = 2_000

/**
 * Ends what a killed runner, or an agent that is over, left running: TERM, then KILL. Only processes that are surely meant: same pid and same start
 * time as written down, their process group, and on Linux whatever carries the incarnation's mark. Returns the incarnations that lived.
 */
export async function sweep(records: readonly AgentRecord[], options: SweepOptions): Promise<ReadonlySet<string>> {
  const first = await remains(records, options)
  if (first.size === 0) return new Set()
  const incarnations = new Set(first.values())
  signalAll(first.keys(), "SIGTERM")
  if (await areGone(records, options.killAfterMs, options)) return incarnations
  signalAll((await remains(records, options)).keys(), "SIGKILL")
  await areGone(records, AFTER_KILL_MS, options)
  return incarnations
}

async function areGone(records: readonly AgentRecord[], ms: number, options: SweepOptions): Promise<boolean> {
  const deadline = performance.now() + ms
  for (;;) {
    if ((await remains(records, options)).size === 0) return true
    if (performance.now() >= deadline) return false
    await delay(options.pollMs ?? POLL_MS)
  }
}

/** The incarnation that each process belongs to, by pid. */
async function remains(records: readonly AgentRecord[], options: SweepOptions): Promise<Map<number, string>> {
  const found = new Map<number, string>()
  if (records.length === 0) return found
  const table = await processTable()
  const incarnations = new Set(records.map(({ launched }) => launched.spawn))
  const leaders = leadersAmong(records, table, options)
  for (const entry of table) {
    const incarnation = leaders.get(entry.group) ?? leaders.get(entry.pid) ?? markOf(entry, incarnations)
    if (incarnation !== undefined && entry.pid !== process.pid) found.set(entry.pid, incarnation)
  }
  return found
}

/** The agents' first processes, which lead their groups: those that still live, or whose numbers are surely not another's. */
function leadersAmong(
  records: readonly AgentRecord[],
  table: readonly ProcessEntry[],
  { haveJustEnded = false }: SweepOptions,
): Map<number, string> {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]))
  const leaders = new Map<number, string>()
  for (const { launched, processStartedAt } of records) {
    const entry = byPid.get(launched.pid)
    const isTheirs = entry === undefined ? haveJustEnded : entry.startedAt === processStartedAt
    if (isTheirs) leaders.set(launched.pid, launched.spawn)
  }
  return leaders
}

function markOf({ pid }: ProcessEntry, incarnations: ReadonlySet<string>): string | undefined {
  if (process.platform !== "linux") return undefined
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1")
    const variable = environment.split("\0").find((text) => text.startsWith(`${SPAWN_VARIABLE}=`))
    const mark = variable?.slice(SPAWN_VARIABLE.length + 1)
    return mark !== undefined && incarnations.has(mark) ? mark : undefined
  } catch {
    return undefined // gone, or another user's
  }
}

function signalAll(pids: Iterable<number>, signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (systemCode(error) !== "ESRCH" && systemCode(error) !== "EPERM") throw error
    }
  }
}

export interface LeftoversOptions {
  readonly killAfterMs: number
  readonly log: RunnerLog
}

/** Ends what agents that are over left running. Each look is at the whole machine, so those that end together share one. */
export class Leftovers {
  readonly #options: LeftoversOptions
  #due: AgentRecord[] = []
  #last: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(options: LeftoversOptions) {
    this.#options = options
  }

  /** Resolves when nothing of it is left, or could not be ended. */
  end(record: AgentRecord): Promise<void> {
    this.#due.push(record)
    this.#next ??= this.#last.then(() => this.#sweep())
    return this.#next
  }

  async #sweep(): Promise<void> {
    const { killAfterMs, log } = this.#options
    const records = this.#due
    this.#due = []
    this.#last = this.#next ?? this.#last
    this.#next = undefined
    try {
      const lived = await sweep(records, { killAfterMs, haveJustEnded: true })
      if (lived.size > 0) log.info({ incarnations: [...lived] }, "Ended processes that agents left running")
    } catch (error) {
      log.error({ err: error }, "Couldn't look for processes that agents left running")
    }
  }
}
