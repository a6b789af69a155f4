import { randomUUID } from "node:crypto"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { open, rename } from "node:fs/promises"
import { join } from "node:path"
import { isObject } from "@signalbox/protocol/envelope"
import type { Launched } from "@signalbox/protocol/runner-wire"
import { errorText, RunnerError, systemCode } from "../errors.ts"
import { processEntry } from "./process-table.ts"

/** An agent as it is written down, so that the next runner can end it or deliver what it said. */
export interface AgentRecord {
  readonly session: string
  readonly startedAt: string
  /** The reply to its launch. */
  readonly launched: Launched
  /** Start time of the first process, which with the pid identifies it; undefined if it had ended before we looked. */
  readonly processStartedAt?: string
  /** The CLI's own id of the conversation that it goes on with, until it says one itself. */
  readonly resumed?: string
  /** The hub decides about every tool call. */
  readonly enforce?: true
}

/** A process that ended without a word when an earlier runner died. */
interface CutAgent {
  readonly spawn: string
  readonly session: string
  readonly reason: string
}

export interface RunnerState {
  /** Stable over restarts. */
  readonly id: string
  readonly agents: readonly AgentRecord[]
  readonly cut: readonly CutAgent[]
  /** The paths that this runner made, each with its repository. */
  readonly worktrees: readonly { readonly path: string; readonly repository: string; readonly branch: string }[]
  /** Processes that are over: asking for one again must not start a second. */
  readonly over: readonly string[]
}

const FILE = "runner-state.json"
const MAX_OVER = 1_000
const MAX_CUT = 1_000

/** State that must outlive the process. A change is on disk, whole, when its `update` resolves. */
export class StateFile {
  readonly #directory: string
  #state: RunnerState
  #writing: Promise<void> = Promise.resolve()
  #written: RunnerState | undefined

  private constructor(directory: string, state: RunnerState) {
    this.#directory = directory
    this.#state = state
  }

  static pathIn(directory: string): string {
    return join(directory, FILE)
  }

  static open(directory: string): StateFile {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return new StateFile(directory, readState(StateFile.pathIn(directory)))
  }

  get state(): RunnerState {
    return this.#state
  }

  async update(change: (state: RunnerState) => Partial<RunnerState>): Promise<void> {
    const next = { ...this.#state, ...change(this.#state) }
    this.#state = { ...next, over: next.over.slice(-MAX_OVER), cut: next.cut.slice(-MAX_CUT) }
    // Each waits for the one before; those that come meanwhile are written at once by the first of them.
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write())
    await this.#writing
  }

  /** Resolves when nothing is being written any more. */
  async settled(): Promise<void> {
    await this.#writing.catch(() => undefined)
  }

  async #write(): Promise<void> {
    const state = this.#state
    if (state === this.#written) return
    const path = StateFile.pathIn(this.#directory)
    const file = await open(`${path}.new`, "w", 0o600)
    try {
      await file.writeFile(JSON.stringify(state))
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(`${path}.new`, path)
    await syncDirectory(this.#directory)
    this.#written = state
  }
}

function readState(path: string): RunnerState {
  const fresh: RunnerState = { id: randomUUID(), agents: [], cut: [], worktrees: [], over: [] }
  try {
    const read: unknown = JSON.parse(readFileSync(path, "utf8"))
    if (!isObject(read) || typeof read["id"] !== "string") throw new Error("it is not what a runner writes")
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file, replaced only as a whole
    return { ...fresh, ...(read as Partial<RunnerState>) }
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") return fresh
    const message = `${path} cannot be read (${errorText(cause)}): look for agents that still run, then remove it`
    throw new RunnerError("runner/bad-state", message, { cause })
  }
}

async function syncDirectory(directory: string): Promise<void> {
  // Not every system can sync a directory; the rename is atomic all the same.
  const handle = await open(directory, "r").catch(() => undefined)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}

/** The id of the runner whose state is in this directory. Undefined: none has been started there yet. */
export function runnerIdIn(directory: string): string | undefined {
  return existsSync(StateFile.pathIn(directory)) ? StateFile.open(directory).state.id : undefined
}

/** How many agents live of those that a runner wrote down in its directory: for whoever cannot ask a hub. */
export async function agentsIn(directory: string): Promise<number> {
  const { agents } = StateFile.open(directory).state
  const found = await Promise.all(
    agents.map(async ({ launched, processStartedAt }) => {
      const entry = await processEntry(launched.pid)
      return entry !== undefined && entry.startedAt === processStartedAt
    }),
  )
  return found.filter(Boolean).length
}
