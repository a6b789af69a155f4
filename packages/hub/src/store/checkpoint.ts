import { statSync } from "node:fs"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import type { Database } from "./database.ts"

export interface WalLimits {
  /** From here on the thread moves it. */
  readonly dueAtBytes: number
  /** The thread does not keep up: from here on writing waits until all of it was moved. */
  readonly maxBytes: number
}

const DEFAULT_LIMITS: WalLimits = { dueAtBytes: 32 * 1024 * 1024, maxBytes: 128 * 1024 * 1024 }
/** So much may have been written while the thread was at it and still be moved here, in a few milliseconds. */
const LITTLE_BYTES = 512 * 1024
/** After so many rounds the rest is moved here, however much it is: the log must end some time. */
const MAX_ROUNDS = 4
const MAX_WAIT_MS = 5000
/** The size of the write-ahead log is looked at once for so many commits or so many bytes written. */
const LOOK_AFTER = { commits: 64, bytes: 1024 * 1024 }

/** Plain text, since a thread cannot be started from a TypeScript file and a build would give it another name. */
const WORKER = `
  const { parentPort, workerData } = require("node:worker_threads")
  const Database = require(workerData.driver)
  const connection = new Database(workerData.file)
  connection.exec("PRAGMA busy_timeout = 5000; PRAGMA synchronous = NORMAL")
  parentPort.on("message", (message) => {
    if (message === "close") {
      connection.close()
      parentPort.close()
      return
    }
    try {
      connection.prepare("PRAGMA wal_checkpoint(PASSIVE)").raw().all([])
    } catch {}
    Atomics.store(workerData.busy, 0, 0)
    Atomics.notify(workerData.busy, 0)
    parentPort.postMessage("done")
  })
`

/**
 * Moves the write-ahead log into the file before it grows long. That means syncing both, for tens of milliseconds, so a
 * thread does it on a connection of its own while commits go on here, again and again until they added only a little in the
 * meantime. Moving that on this thread lets the log start over.
 */
export class Checkpointer {
  readonly #database: Database
  readonly #file: string
  readonly #limits: WalLimits
  /** 1 while the thread is at it. Shared, since two cannot be at it at once and SQLite does not wait for the other. */
  readonly #busy = new Int32Array(new SharedArrayBuffer(4))
  #worker: Worker | undefined
  /** Of the thread, in the checkpoint under way; 0 when there is none. */
  #round = 0
  #isClosed = false
  #commits = 0
  #bytes = 0
  #bytesInRound = 0

  constructor(database: Database, file: string, limits: WalLimits = DEFAULT_LIMITS) {
    this.#database = database
    this.#file = file
    this.#limits = limits
  }

  noteCommit(bytes: number): void {
    this.#commits++
    this.#bytes += bytes
    this.#bytesInRound += bytes
    if (this.#commits < LOOK_AFTER.commits && this.#bytes < LOOK_AFTER.bytes) return
    this.#commits = 0
    this.#bytes = 0
    if (this.#isClosed) return
    const walBytes = this.#walBytes()
    if (walBytes >= this.#limits.maxBytes) this.#moveAll()
    else if (walBytes >= this.#limits.dueAtBytes && this.#round === 0) this.#startRound()
  }

  close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    if (worker === undefined) return Promise.resolve()
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()))
    worker.ref()
    tell(worker, "close")
    return exited
  }

  #startRound(): void {
    this.#round++
    this.#bytesInRound = 0
    this.#worker ??= this.#startWorker()
    Atomics.store(this.#busy, 0, 1)
    tell(this.#worker, "checkpoint")
  }

  #startWorker(): Worker {
    const driver = createRequire(import.meta.url).resolve("libsql")
    const worker = new Worker(WORKER, { eval: true, workerData: { driver, file: this.#file, busy: this.#busy } })
    worker.unref()
    worker.on("message", () => this.#endRound())
    // Without the thread this one does it all: slower, not wrong. The next time a new one is tried.
    worker.on("error", () => this.#finish())
    worker.on("exit", () => {
      this.#worker = undefined
      Atomics.store(this.#busy, 0, 0)
      this.#round = 0
    })
    return worker
  }

  #endRound(): void {
    if (this.#isClosed) return
    if (this.#bytesInRound > LITTLE_BYTES && this.#round < MAX_ROUNDS) this.#startRound()
    else this.#finish()
  }

  #finish(): void {
    this.#round = 0
    if (!this.#isClosed) this.#move("PASSIVE")
  }

  #moveAll(): void {
    Atomics.wait(this.#busy, 0, 1, MAX_WAIT_MS)
    this.#move("TRUNCATE")
  }

  #move(mode: "PASSIVE" | "TRUNCATE"): void {
    try {
      this.#database.all(`PRAGMA wal_checkpoint(${mode})`, [])
    } catch {
      // Nothing is lost by it: the log stays longer, and commits report what is wrong with the disk.
    }
  }

  #walBytes(): number {
    return statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  }
}

function tell(worker: Worker, message: "checkpoint" | "close"): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
  worker.postMessage(message)
}
