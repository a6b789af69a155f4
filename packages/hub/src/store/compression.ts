import { setTimeout as delay } from "node:timers/promises"
import { Worker } from "node:worker_threads"
import type { ColdBefore, ColdBlock, ColdThreadData, FromColdThread, ToColdThread } from "./cold/cold-messages.ts"
import { keepBlock } from "./cold/keep-block.ts"
import type { Database } from "./database.ts"
import type { Journal, JournalCommit } from "./journal.ts"

export interface CompressionTimes {
  /** A hub that starts has other things to do first. */
  readonly firstAfterMs: number
  readonly everyMs: number
  /** Nothing was added for so long to a session that has ended: it is cold. */
  readonly endedMs: number
  /** The same for any other session. */
  readonly othersMs: number
}

export interface CompressionOptions {
  readonly database: Database
  readonly journal: Journal
  readonly file: string
  readonly times?: Partial<CompressionTimes> | undefined
  /** It is tried again in a later round. */
  readonly onTrouble?: ((error: unknown) => void) | undefined
}

/** The size of all blocks, in bytes. */
export interface ColdBytes {
  /** As lines. */
  readonly before: number
  /** Compressed. */
  readonly after: number
}

const MINUTE_MS = 60_000
const DEFAULT_TIMES: CompressionTimes = {
  firstAfterMs: MINUTE_MS,
  everyMs: 10 * MINUTE_MS,
  endedMs: 10 * MINUTE_MS,
  othersMs: 60 * MINUTE_MS,
}
/** A commit of somebody else's within this time: there is traffic, which goes first. */
const TRAFFIC_MS = 50
/** Between two blocks. */
const REST_MS = { quiet: 5, traffic: 250 }
/** The thread ends after its step. One that is ended inside SQLite takes the whole process along, so it gets long on a busy machine. */
const CLOSE_TIMEOUT_MS = 15_000
const EVERYTHING: ColdBefore = { ended: Number.POSITIVE_INFINITY, others: Number.POSITIVE_INFINITY }

/**
 * Compresses the lines of cold sessions, a block at a time. A thread, which lives only while it looks through the sessions, reads and
 * compresses; here a block is committed. What fails, such as on a full disk, is left as it is until the next time.
 */
export class Compression {
  readonly #options: CompressionOptions
  readonly #times: CompressionTimes
  readonly #stop = new Int32Array(new SharedArrayBuffer(4))
  /** One round through the sessions after the other. */
  #rounds: Promise<void> = Promise.resolve()
  #worker: Worker | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  /** The commit under way has a block in it. */
  #hasBlock = false
  /** Commits with anything else in them. */
  #writes = 0
  #busyAt = Number.NEGATIVE_INFINITY
  /** `#writes` when nothing was left to do: until there are more nothing is. */
  #doneAt = Number.NaN

  constructor(options: CompressionOptions) {
    this.#options = options
    this.#times = { ...DEFAULT_TIMES, ...options.times }
    this.#roundAfter(this.#times.firstAfterMs)
  }

  get bytes(): ColdBytes {
    const valueOf = (name: string) =>
      Number(this.#options.database.get("SELECT value FROM store_marks WHERE name = ?", [name])?.[0] ?? 0)
    return { before: valueOf("cold-bytes"), after: valueOf("block-bytes") }
  }

  noteCommit({ jobs }: JournalCommit): void {
    if (jobs === 1 && this.#hasBlock) return
    this.#writes++
    this.#busyAt = performance.now()
  }

  /** Commits it. Rejects if the log has changed since, or cannot be written now. */
  async keep(block: ColdBlock): Promise<void> {
    const { database, journal } = this.#options
    const run = () => {
      this.#hasBlock = true
      keepBlock(database, block)
    }
    try {
      await journal.write({ run, bytes: block.rawBytes + block.body.length, refusable: true })
    } finally {
      this.#hasBlock = false
    }
  }

  /** Compresses all there is, however new: for tests and benchmarks. */
  compressAll(): Promise<void> {
    return this.#round(EVERYTHING)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    Atomics.store(this.#stop, 0, 1)
    const worker = this.#worker
    const late = setTimeout(() => void worker?.terminate(), CLOSE_TIMEOUT_MS)
    if (worker !== undefined) tell(worker, "end")
    await this.#rounds
    clearTimeout(late)
  }

  #roundAfter(ms: number): void {
    this.#timer = setTimeout(() => void this.#roundOnTime(), ms).unref()
  }

  async #roundOnTime(): Promise<void> {
    const now = Date.now()
    const before = { ended: now - this.#times.endedMs, others: now - this.#times.othersMs }
    if (this.#doneAt !== this.#writes) await this.#round(before)
    if (!this.#isClosed) this.#roundAfter(this.#times.everyMs)
  }

  #round(before: ColdBefore): Promise<void> {
    this.#rounds = this.#rounds.then(() => (this.#isClosed ? undefined : this.#look(before)))
    return this.#rounds
  }

  /** Resolves when the thread has ended, for whatever reason. */
  #look(before: ColdBefore): Promise<void> {
    const workerData: ColdThreadData = { file: this.#options.file, before, stop: this.#stop }
    const worker = new Worker(new URL("./cold/cold-thread.js", import.meta.url), { workerData, execArgv: [] })
    if (before !== EVERYTHING) worker.unref()
    this.#worker = worker
    const writesBefore = this.#writes
    worker.on("message", (message: FromColdThread) => {
      if (message.kind === "block") void this.#take(worker, message.block)
      else if (!message.isLeft) this.#doneAt = writesBefore
    })
    // The next round begins where this one came to.
    worker.on("error", (error) => this.#tell(error))
    return new Promise((resolve) => {
      worker.once("exit", () => {
        this.#worker = undefined
        resolve()
      })
    })
  }

  async #take(worker: Worker, block: ColdBlock): Promise<void> {
    try {
      await this.keep(block)
      const isBusy = performance.now() - this.#busyAt < TRAFFIC_MS
      await delay(isBusy ? REST_MS.traffic : REST_MS.quiet, undefined, { ref: false })
      tell(worker, "next")
    } catch (error) {
      this.#tell(error)
      tell(worker, "end")
    }
  }

  #tell(error: unknown): void {
    if (!this.#isClosed) this.#options.onTrouble?.(error)
  }
}

function tell(worker: Worker, message: ToColdThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
  worker.postMessage(message)
}
