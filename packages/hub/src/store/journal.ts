import { HubError } from "../errors.ts"
import { BUSY_TIMEOUT_MS, type Database } from "./database.ts"
import { damageFailure, isDamage, storeFailure } from "./store-failure.ts"
import { commitJobs, type JournalStage } from "./transaction.ts"
import { type WriteEntry, WriteQueue } from "./write-queue.ts"

export interface WriteJob<T> {
  /** Runs inside the transaction, perhaps more than once: what it keeps in memory it must be able to lose. */
  readonly run: () => T
  /** The bytes it holds in memory while it waits. */
  readonly bytes?: number
  /** On disk in full before it is confirmed. */
  readonly synced?: boolean
  /** While the store is in trouble it is refused at once, so that whoever sent it knows; others wait until there is room. */
  readonly refusable?: boolean
  /** The session that it is about, to be named if it cannot be written. */
  readonly session?: string
}

export interface JournalOptions {
  /** From here on `room()` waits. */
  readonly fullAtBytes?: number
  /** From here on every write is refused: nobody who awaits `room()` gets here. */
  readonly maxWaitingBytes?: number
  readonly retryMs?: number
  readonly onTrouble?: (error: HubError) => void
  readonly onRecovered?: (trouble: { readonly lastedMs: number }) => void
  readonly onCommitted?: (commit: JournalCommit) => void
}

export interface JournalCommit {
  readonly jobs: number
  readonly bytes: number
  readonly durationMs: number
}

type JournalState =
  | { readonly phase: "running" }
  | { readonly phase: "stalled"; readonly since: number; readonly error: HubError; readonly retry: NodeJS.Timeout }
  | { readonly phase: "closed" }

const MIB = 1024 * 1024
const PROBE: WriteEntry = {
  run: () => undefined,
  bytes: 0,
  synced: false,
  refusable: true,
  resolve: () => undefined,
  reject: () => undefined,
}

/**
 * Group commit. All writes of one tick are one transaction, in the order they were made; each is confirmed after the
 * commit. When the disk is full or fails, writes that may be refused are refused at once, the others wait here, bounded, and
 * are tried again until they are in.
 */
export class Journal {
  readonly #database: Database
  readonly #stages: JournalStage[] = []
  readonly #queue = new WriteQueue()
  readonly #options: JournalOptions
  readonly #fullAtBytes: number
  readonly #maxWaitingBytes: number
  #state: JournalState = { phase: "running" }
  #isScheduled = false
  #isStopping = false
  #holds = 0
  #roomWaiters: (() => void)[] = []

  constructor(database: Database, options: JournalOptions = {}) {
    this.#database = database
    this.#options = options
    this.#fullAtBytes = options.fullAtBytes ?? 32 * MIB
    this.#maxWaitingBytes = options.maxWaitingBytes ?? 128 * MIB
  }

  get isStalled(): boolean {
    return this.#state.phase === "stalled"
  }

  get waitingBytes(): number {
    return this.#queue.bytes
  }

  /** A stage collects what jobs write, to write it in one go before the commit. */
  addStage(stage: JournalStage): void {
    this.#stages.push(stage)
  }

  write<T>(job: WriteJob<T>): Promise<T> {
    const refusal = this.#refusal(job)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise<T>((resolve, reject) => {
      let result: T
      const { bytes = 0, synced = false, refusable = false, session } = job
      const run = () => {
        result = job.run()
      }
      this.#queue.add({ run, bytes, synced, refusable, session, resolve: () => resolve(result), reject })
      this.#schedule()
    })
  }

  /** Resolves when there is room for more: whoever reads from an agent awaits it before the next line. */
  room(): Promise<void> {
    if (this.#hasRoom()) return Promise.resolve()
    return new Promise((resolve) => {
      this.#roomWaiters.push(resolve)
    })
  }

  /** Nothing is committed until what it returns is called, or it is closed. Whoever holds it does so for moments only. */
  hold(): () => void {
    let isHeld = true
    this.#holds++
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#holds--
      if (this.#holds === 0) this.#schedule()
    }
  }

  /** Resolves when everything written so far is in. */
  flush(): Promise<void> {
    return this.write({ run: () => undefined })
  }

  /** The end is near: nobody waits for room any more, and what cannot be written now is refused. */
  stopWaiting(): void {
    this.#isStopping = true
    if (this.#state.phase === "stalled") {
      clearTimeout(this.#state.retry)
      this.#retry()
    }
    this.#releaseRoom()
  }

  /** Writes what waits, once more also in trouble; what cannot be written is refused, and so is every later write. */
  close(): void {
    if (this.#state.phase === "closed") return
    const wasStalled = this.#state.phase === "stalled" ? this.#state : undefined
    if (wasStalled !== undefined) clearTimeout(wasStalled.retry)
    this.#queue.endTick()
    this.#state = { phase: "closed" }
    let failure: HubError | undefined
    while (this.#queue.hasBacklog) {
      const batch = this.#queue.takeBatch()
      failure ??= this.#commit(batch)
      if (failure !== undefined) this.#reject(batch, failure)
    }
    this.#releaseRoom()
  }

  #refusal(job: WriteJob<unknown>): HubError | undefined {
    if (this.#state.phase === "closed")
      return new HubError("hub/stopping", "The hub is stopping: try again in a moment.")
    const trouble = this.#state.phase === "stalled" ? this.#state.error : undefined
    if ((job.refusable === true || this.#isStopping) && trouble !== undefined) return trouble
    if (this.#queue.bytes < this.#maxWaitingBytes) return undefined
    return trouble ?? new HubError("store/failed", "More is being written than the disk takes: try again in a moment.")
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#queue.endTick()
      if (this.#state.phase === "running") this.#drain()
    })
  }

  #drain(): void {
    if (!this.#queue.hasBacklog || this.#holds > 0) return
    const batch = this.#queue.takeBatch()
    const failure = this.#commit(batch)
    if (failure !== undefined) {
      this.#stall(batch, failure)
      return
    }
    this.#releaseRoom()
    if (this.#queue.hasBacklog) this.#schedule()
  }

  /** Settles the entries and returns undefined, or returns why nothing of it could be committed and settles none. */
  #commit(batch: readonly WriteEntry[]): HubError | undefined {
    const startedAt = performance.now()
    const synced = batch.some((entry) => entry.synced)
    let failures: ReadonlyMap<WriteEntry, unknown>
    try {
      failures = commitJobs({ database: this.#database, stages: this.#stages }, { jobs: batch, synced })
    } catch (error) {
      if (isDamage(error)) return damageFailure(error, "The hub's database")
      return storeFailure(error, "The hub's database cannot be written: look at its disk and its permissions")
    }
    const bytes = this.#queue.settle(batch)
    for (const entry of batch) {
      if (failures.has(entry)) entry.reject(rejectionOf(failures.get(entry), entry))
      else entry.resolve()
    }
    this.#options.onCommitted?.({ jobs: batch.length, bytes, durationMs: performance.now() - startedAt })
    return undefined
  }

  #stall(batch: readonly WriteEntry[], error: HubError): void {
    const isNew = this.#state.phase === "running"
    const since = this.#state.phase === "stalled" ? this.#state.since : Date.now()
    const retry = setTimeout(() => this.#retry(), this.#options.retryMs ?? 1000)
    this.#state = { phase: "stalled", since, error, retry }
    const refused = this.#queue.putBack(batch, (entry) => !entry.refusable && !this.#isStopping)
    this.#reject(refused, error)
    if (isNew) this.#options.onTrouble?.(error)
  }

  #retry(): void {
    if (this.#state.phase !== "stalled") return
    const { since } = this.#state
    this.#queue.endTick()
    this.#reclaim()
    const batch = this.#queue.hasBacklog ? this.#queue.takeBatch() : [this.#probe()]
    const failure = this.#commit(batch)
    if (failure !== undefined) {
      this.#stall(batch, failure)
      return
    }
    this.#state = { phase: "running" }
    this.#options.onRecovered?.({ lastedMs: Date.now() - since })
    this.#releaseRoom()
    this.#schedule()
  }

  /** Nothing waits: the smallest real write tells whether there is room again. */
  #probe(): WriteEntry {
    return {
      ...PROBE,
      run: () => void this.#database.run("UPDATE store_marks SET value = value + 1 WHERE name = 'probe'", []),
    }
  }

  /**
   * Moves the write-ahead log into the file and cuts it off: on a full disk that may be all the room there is. Whoever reads on
   * keeps it from being cut, and is not waited for: this thread is everybody's. The next try cuts it.
   */
  #reclaim(): void {
    try {
      this.#database.exec("PRAGMA busy_timeout = 0")
      this.#database.all("PRAGMA wal_checkpoint(TRUNCATE)", [])
    } catch {
      // The write that follows reports what is wrong.
    } finally {
      this.#database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    }
  }

  #reject(entries: readonly WriteEntry[], error: HubError): void {
    this.#queue.settle(entries)
    for (const entry of entries) entry.reject(error)
  }

  #hasRoom(): boolean {
    if (this.#isStopping) return true
    return this.#state.phase === "closed" || (!this.isStalled && this.#queue.bytes < this.#fullAtBytes)
  }

  #releaseRoom(): void {
    if (!this.#hasRoom()) return
    for (const resolve of this.#roomWaiters.splice(0)) resolve()
  }
}

function rejectionOf(failure: unknown, { session }: WriteEntry): unknown {
  return isDamage(failure) ? damageFailure(failure, session === undefined ? "This" : `Session ${session}`) : failure
}
