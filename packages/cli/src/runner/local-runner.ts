import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync } from "node:fs"
import { parse } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { Hub } from "@signalbox/hub"
import { findRunner, runnerIdIn } from "@signalbox/runner"
import type { DataDirectory } from "../base/data-directory.ts"
import { oneLine } from "../base/failure.ts"
import { identify, isAlive, type ProcessCard, readCard } from "../base/process-card.ts"
import { SIGNALBOX } from "../base/signalbox-path.ts"
import { MAX_RESTARTS, nextRestart } from "./restart-plan.ts"
import { ensureRunnerToken } from "./runner-token.ts"

const LOOK_MS = 1_000

interface LocalRunnerOptions {
  readonly hub: Hub
  readonly data: DataDirectory
  /** What whoever started the hub should know. */
  readonly tell: (text: string) => void
}

/**
 * The runner beside a hub: a process of its own, so that agents survive the hub. Where one lives already it has the lock: the new
 * one sees that and ends, and the old one finds this hub by the data directory. While the hub lives, a runner that dies is started
 * again; one that somebody stopped is not.
 */
export class LocalRunner {
  readonly #options: LocalRunnerOptions
  readonly #closing = new AbortController()

  constructor(options: LocalRunnerOptions) {
    this.#options = options
  }

  /** Resolves when it is started; from then on it is looked after. */
  async start(): Promise<void> {
    const child = await this.#spawn()
    void this.#lookAfter(child)
  }

  /** The hub goes: what becomes of the runner is no longer its business. */
  close(): void {
    this.#closing.abort()
  }

  async #spawn(): Promise<ChildProcess> {
    const { hub, data } = this.#options
    // First: a runner whose token is refused does not hurry to try again.
    const token = await ensureRunnerToken(hub, data)
    const id = runnerIdIn(data.runnerState)
    if (id !== undefined) hub.ownRunner(id, token)
    this.#closing.signal.throwIfAborted()
    return spawnRunner(data)
  }

  /** Never rejects: a hub without a runner is a hub all the same. */
  async #lookAfter(first: ChildProcess): Promise<void> {
    let child: ChildProcess | undefined = first
    let inARow = 0
    try {
      while (true) {
        const startedAt = performance.now()
        const end = child === undefined ? "cannot be started" : await this.#endOf(child)
        if (end === "stopped")
          return this.#tell('the runner was stopped; "signalbox down" and "signalbox up" bring another')
        const next = nextRestart(inARow, performance.now() - startedAt)
        if (next === undefined) return this.#tell(gaveUp(end))
        inARow = next.inARow
        this.#tell(`the runner ${end}; it is started again (${inARow} of ${MAX_RESTARTS} in a row)`)
        await pause(next.delayMs, undefined, { signal: this.#closing.signal })
        child = await this.#spawn().catch((error: unknown) => {
          this.#tell(oneLine(error))
          return undefined
        })
      }
    } catch (error) {
      // Nobody is told when it is only that the hub goes.
      this.#tell(`the runner is no longer looked after: ${oneLine(error)}`)
    }
  }

  /** How the runner that is there now ended: the one that was started, or the one that it found in its place. */
  async #endOf(child: ChildProcess): Promise<string> {
    const { signal } = this.#closing
    const own = identify(child.pid ?? 0)
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit", { signal })
    const other = await findRunner(this.#options.data.runnerState)
    signal.throwIfAborted()
    if (other === undefined) return this.#isStopped(own) ? "stopped" : wordsFor(child)
    const adopted = identify(other)
    while (isAlive(adopted)) await pause(LOOK_MS, undefined, { signal, ref: false })
    return this.#isStopped(adopted) ? "stopped" : "ended unexpectedly"
  }

  /** One that ended in good order has said so. */
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
  return `the runner ${end}, ${MAX_RESTARTS + 1} times in a row: it is left so; see runner.log in the data directory, then "signalbox down" and "signalbox up"`
}

async function spawnRunner(data: DataDirectory): Promise<ChildProcess> {
  const log = openSync(data.runnerLog, "a", 0o600)
  try {
    const child = spawn(process.execPath, [SIGNALBOX, "runner", "--local", "--data", data.path], {
      detached: true,
      stdio: ["ignore", "ignore", log],
      env: withoutOurs(process.env),
      // Not the folder that somebody happened to be in: that one could never be removed.
      cwd: parse(data.path).root,
    })
    child.unref()
    await once(child, "spawn")
    return child
  } finally {
    closeSync(log)
  }
}

/** It finds everything in the data directory: another hub's address and token are no business of its. */
function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^SIGNALBOX_(?:URL|TOKEN|DATA)$/.test(name)))
}
