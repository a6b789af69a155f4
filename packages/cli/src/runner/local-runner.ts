import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync } from "node:fs"
import { parse } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { Hub } from "@signalbox/hub"
import { backoffMs } from "@signalbox/protocol/timing"
import type { DataDirectory } from "../base/context.ts"
import { oneLine } from "../base/failure.ts"
import { SIGNALBOX } from "../base/installed.ts"
import { identify, isAlive, type ProcessCard, readCard } from "../base/process-files.ts"
import { ensureRunnerToken } from "./runner-token.ts"

const LOOK_MS = 1_000
/** Loaded when a runner is started: a hub is ready sooner without it. */
const runnerFiles = () => import("@signalbox/runner")

interface LocalRunnerOptions {
  readonly hub: Hub
  readonly data: DataDirectory
  readonly isOnPostgres: boolean
  /** Takes what whoever started the hub should know. */
  readonly tell: (text: string) => void
}

/**
 * The runner beside a hub: a process of its own, so that agents survive the hub. A runner that is already there holds the lock: the
 * new one sees that and ends, and the old one finds this hub by the data directory. While the hub runs, a runner that crashes is
 * restarted; one that somebody stopped is not.
 */
export class LocalRunner {
  readonly #options: LocalRunnerOptions
  readonly #closing = new AbortController()

  constructor(options: LocalRunnerOptions) {
    this.#options = options
  }

  /** Resolves when the runner has started; from then on it is looked after. */
  async start(): Promise<void> {
    const child = await this.#spawn()
    void this.#lookAfter(child)
  }

  /** The hub ends and no longer looks after the runner. */
  close(): void {
    this.#closing.abort()
  }

  async #spawn(): Promise<ChildProcess> {
    const { hub, data } = this.#options
    // First, because a runner with a rejected token retries slowly.
    const token = await ensureRunnerToken(hub, data)
    const id = (await runnerFiles()).runnerIdIn(data.runnerState)
    if (id !== undefined) hub.ownRunner(id, token)
    this.#closing.signal.throwIfAborted()
    return spawnRunner(this.#options)
  }

  /** Never rejects: a hub works without a runner. */
  async #lookAfter(first: ChildProcess): Promise<void> {
    let child: ChildProcess | undefined = first
    let inARow = 0
    try {
      while (true) {
        const startedAt = performance.now()
        const end = child === undefined ? "cannot be started" : await this.#endOf(child)
        if (end === "stopped")
          return this.#tell("the runner was stopped; to start another: signalbox down, then signalbox up")
        const next = nextRestart(inARow, performance.now() - startedAt)
        if (next === undefined) return this.#tell(gaveUp(end))
        inARow = next.inARow
        this.#tell(`the runner ${end}; restarting it (${inARow} of ${MAX_RESTARTS} in a row)`)
        await pause(next.delayMs, undefined, { signal: this.#closing.signal })
        child = await this.#spawn().catch((error: unknown) => {
          this.#tell(oneLine(error))
          return undefined
        })
      }
    } catch (error) {
      // If the hub is ending, nobody is told.
      this.#tell(`the runner is no longer supervised: ${oneLine(error)}`)
    }
  }

  /** How the runner ended: the one that was started, or the one that was already there. */
  async #endOf(child: ChildProcess): Promise<string> {
    const { signal } = this.#closing
    const own = identify(child.pid ?? 0)
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit", { signal })
    const other = await (await runnerFiles()).findRunner(this.#options.data.runnerState)
    signal.throwIfAborted()
    if (other === undefined) return this.#isStopped(own) ? "stopped" : wordsFor(child)
    const adopted = identify(other)
    while (isAlive(adopted)) await pause(LOOK_MS, undefined, { signal, ref: false })
    return this.#isStopped(adopted) ? "stopped" : "ended unexpectedly"
  }

  /** A runner that was stopped on purpose left a note. */
  #isStopped({ pid, began }: ProcessCard): boolean {
    const note = readCard(this.#options.data.runnerEnded)
    return note?.pid === pid && (note.began === began || began === undefined)
  }

  #tell(text: string): void {
    if (!this.#closing.signal.aborted) this.#options.tell(text)
  }
}

function wordsFor({ exitCode, signalCode }: ChildProcess): string {
  return `ended unexpectedly (${signalCode ?? `exit code ${exitCode}`})`
}

function gaveUp(end: string): string {
  return `the runner ${end}, ${MAX_RESTARTS + 1} times in a row, and is not restarted again: see runner.log in the data directory, then run signalbox down and signalbox up`
}

async function spawnRunner({ data, isOnPostgres }: LocalRunnerOptions): Promise<ChildProcess> {
  const log = openSync(data.runnerLog, "a", 0o600)
  try {
    const child = spawn(process.execPath, [SIGNALBOX, "runner", "--local", "--data", data.path], {
      detached: true,
      stdio: ["ignore", "ignore", log],
      env: withoutOurs(process.env, isOnPostgres),
      // Not the current folder: it could then never be removed.
      cwd: parse(data.path).root,
    })
    child.unref()
    await once(child, "spawn")
    return child
  } finally {
    closeSync(log)
  }
}

/**
 * It finds everything in the data directory: another hub's address and token must not reach it. Its agents inherit the rest, so the
 * password of the hub's database stays here.
 */
function withoutOurs(env: NodeJS.ProcessEnv, isOnPostgres: boolean): NodeJS.ProcessEnv {
  const ours = isOnPostgres
    ? /^(?:SIGNALBOX_(?:URL|TOKEN|DATA|STORE)|PGPASSWORD)$/
    : /^SIGNALBOX_(?:URL|TOKEN|DATA|STORE)$/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ours.test(name)))
}

/** After so many crashes in a row, each soon after its start, another try is of no use. */
const MAX_RESTARTS = 5
const BACKOFF = { baseDelayMs: 1_000, maxDelayMs: 30_000 }
/** A runner that ran this long was well: its crash has another cause than those before. */
const WELL_AFTER_MS = 60_000

/** Which restart in a row this is, and how long to wait; undefined after too many. Pure. */
export function nextRestart(
  before: number,
  livedMs: number,
): { readonly inARow: number; readonly delayMs: number } | undefined {
  const inARow = livedMs >= WELL_AFTER_MS ? 1 : before + 1
  if (inARow > MAX_RESTARTS) return undefined
  return { inARow, delayMs: backoffMs(BACKOFF, inARow) }
}

/** Asks a local runner to stop unless it has agents; if it has, it says so in the data directory and stays. */
export const END_IF_IDLE = "SIGUSR2"
