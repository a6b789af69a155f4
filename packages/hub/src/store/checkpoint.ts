import { statSync } from "node:fs"
import { Worker } from "node:worker_threads"
import type { Database } from "./database.ts"

export interface WalLimits {
  /** About so much was written since all of it was moved: the thread moves it. */
  readonly dueAtBytes: number
  /**
   * No pause came and the log's file is longer than this: after one more round commits wait for another, which has little
   * left to move. From twice that on at once. The file stays as long as this until it is closed: to cut it and let it grow
   * again takes tens of milliseconds of somebody's commit.
   */
  readonly maxBytes: number
}

export interface CheckpointerOptions {
  readonly database: Database
  readonly file: string
  /** No commit until what it returns is called. */
  readonly hold: () => () => void
  readonly limits?: WalLimits
}

const MIB = 1024 * 1024
const DEFAULT_LIMITS: WalLimits = { dueAtBytes: 32 * MIB, maxBytes: 128 * MIB }
/** No commit for so long is a pause. */
const PAUSE_MS = 20
const MAX_HOLD_MS = 5000
/** A commit's bytes beside the lines: the pages it only changes something on. */
const BYTES_PER_COMMIT = 12 * 1024
/** The size of the write-ahead log is looked at once for so many commits or so many bytes written. */
const LOOK_AFTER = { commits: 64, bytes: MIB }

type CheckpointState =
  | { readonly phase: "idle" }
  /** The thread is at it. Commits go on, unless `release` says that they are held. */
  | { readonly phase: "moving"; readonly commitsBefore: number; readonly release?: () => void }
  /** Most of it is moved. In a pause the rest is, and the log starts over. */
  | { readonly phase: "awaiting-pause"; readonly timer: NodeJS.Timeout }
  | { readonly phase: "closed" }

const IDLE: CheckpointState = { phase: "idle" }

/**
 * Moves the write-ahead log into the file before it grows long. That means syncing both, for tens of milliseconds, so a
 * thread does it on a connection of its own, and nothing of it is done here. The log starts over when all of it was moved
 * and nothing was committed meanwhile: in a pause, which the work of agents has many of, or else by holding commits while
 * the thread moves the little that came since its last round.
 */
export class Checkpointer {
  readonly #options: CheckpointerOptions
  readonly #limits: WalLimits
  #worker: Worker | undefined
  #state: CheckpointState = IDLE
  #commits = 0
  #looked = { commits: 0, bytes: 0 }
  #bytes = 0
  /** `#bytes` when all of it had been moved. */
  #movedAt = 0
  #isOverdue = false

  constructor(options: CheckpointerOptions) {
    this.#options = options
    this.#limits = options.limits ?? DEFAULT_LIMITS
    options.database.all(`PRAGMA journal_size_limit = ${this.#limits.maxBytes}`, [])
  }

  /** There is nothing to do, or not enough. */
  get isIdle(): boolean {
    return this.#state.phase === "idle"
  }

  noteCommit(bytes: number): void {
    this.#commits++
    this.#bytes += bytes + BYTES_PER_COMMIT
    const { commits, bytes: bytesThen } = this.#looked
    if (this.#commits - commits < LOOK_AFTER.commits && this.#bytes - bytesThen < LOOK_AFTER.bytes) return
    this.#looked = { commits: this.#commits, bytes: this.#bytes }
    const walBytes = this.#walBytes()
    this.#isOverdue = walBytes > this.#limits.maxBytes
    if (!this.#isOverdue && this.#bytes - this.#movedAt < this.#limits.dueAtBytes) return
    if (this.#state.phase === "idle" || (this.#isOverdue && this.#state.phase === "awaiting-pause")) this.#startRound()
    else if (walBytes > 2 * this.#limits.maxBytes) this.#holdRound()
  }

  async close(): Promise<void> {
    this.#leave({ phase: "closed" })
    const worker = this.#worker
    if (worker === undefined) return
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()))
    worker.ref()
    tell(worker, "close")
    await exited
  }

  #startRound(release?: () => void): void {
    const round = { phase: "moving", commitsBefore: this.#commits } as const
    this.#leave(release === undefined ? round : { ...round, release })
    this.#worker ??= this.#startWorker()
    tell(this.#worker, "checkpoint")
  }

  /** The one under way takes too long for what is being written. */
  #holdRound(): void {
    if (this.#state.phase !== "moving" || this.#state.release !== undefined) return
    this.#state = { ...this.#state, release: this.#hold() }
  }

  /** Nothing of the state that is left goes on. */
  #leave(next: CheckpointState): void {
    const state = this.#state
    this.#state = next
    if (state.phase === "awaiting-pause") clearTimeout(state.timer)
    if (state.phase === "moving") state.release?.()
  }

  #startWorker(): Worker {
    const workerData = { file: this.#options.file }
    const worker = new Worker(new URL("./checkpoint-thread.js", import.meta.url), { workerData, execArgv: [] })
    worker.unref()
    worker.on("message", () => this.#endRound())
    worker.on("error", () => {
      // Without the thread this one does it: slower, not wrong. The next time a new one is tried.
      this.#moveHere()
    })
    worker.on("exit", () => {
      this.#worker = undefined
      if (this.#state.phase !== "closed") this.#leave(IDLE)
    })
    return worker
  }

  #endRound(): void {
    if (this.#state.phase !== "moving") return
    if (this.#state.commitsBefore === this.#commits) {
      this.#isOverdue = false
      this.#movedAt = this.#bytes
      this.#leave(IDLE)
    } else if (this.#isOverdue) {
      const release = this.#hold()
      this.#startRound(release)
    } else {
      this.#awaitPause()
    }
  }

  #awaitPause(): void {
    const commitsBefore = this.#commits
    const timer = setTimeout(() => {
      if (commitsBefore === this.#commits) this.#startRound()
      else this.#awaitPause()
    }, PAUSE_MS).unref()
    this.#leave({ phase: "awaiting-pause", timer })
  }

  /** Whatever becomes of the thread, commits go on after a while. */
  #hold(): () => void {
    const release = this.#options.hold()
    const timer = setTimeout(release, MAX_HOLD_MS)
    return () => {
      clearTimeout(timer)
      release()
    }
  }

  #moveHere(): void {
    if (this.#state.phase === "closed") return
    try {
      this.#options.database.all("PRAGMA wal_checkpoint(PASSIVE)", [])
    } catch {
      // Nothing is lost by it: the log stays longer, and commits report what is wrong with the disk.
    }
  }

  #walBytes(): number {
    return statSync(`${this.#options.file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  }
}

function tell(worker: Worker, message: "checkpoint" | "close"): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
  worker.postMessage(message)
}
