import { randomUUID } from "node:crypto"
import { HubError } from "../../errors.ts"
import type { NewEvent } from "../../model/event.ts"
import type { Appended } from "../event-log.ts"
import type { JournalOptions } from "../journal.ts"
import { WriteQueue } from "../write-queue.ts"
import { isLost, postgresFailure } from "./connection.ts"
import type { Fences } from "./fences.ts"
import { type Statement, send, type Written } from "./statement.ts"
import { type Failures, type Job, type Outcome, transact } from "./transaction.ts"
import { WriterConnection } from "./writer-connection.ts"

export interface PostgresJournalOptions extends JournalOptions {
  readonly url: string
  /** Events were committed in these logs. */
  readonly onEvents?: (logs: readonly number[]) => void
  /** Other hubs write the database too, each its own sessions. */
  readonly fences?: Fences
  /** A write was refused because the session is another hub's now. */
  readonly onMoved?: (session: string, epoch: number) => void
}

interface WriteOptions {
  /** The bytes that it holds in memory while it waits. */
  readonly bytes: number
  /** While the database is in trouble it is refused at once, so that whoever sent it knows; others wait. */
  readonly refusable: boolean
  /** Only the hub that has this session writes it. */
  readonly session?: string
}

interface Entry extends WriteOptions {
  readonly job: Job
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

type JournalState =
  | { readonly phase: "running" }
  | {
      readonly phase: "stalled"
      readonly since: number
      readonly error: HubError
      readonly tries: number
      readonly retry: NodeJS.Timeout
    }
  | { readonly phase: "closed" }

/** A transaction whose commit was sent and not answered. Its jobs have their results, in case it is in. */
interface Doubt {
  readonly number: number
  readonly batch: readonly Entry[]
  readonly failures: Failures
}

interface Trouble {
  readonly error: HubError
  /** The connection broke, which happens to a database that is well. */
  readonly isLost: boolean
}

const MIB = 1024 * 1024
const RETRY_MS = 250
const MAX_RETRY_MS = 5_000
const NOTHING: Written = { rows: [], changed: 0 }
const NO_EVENTS: Appended = { stored: [], lastSeq: 0 }

const MARK = `
  INSERT INTO writers (id, last_commit) VALUES ($1, $2)
  ON CONFLICT (id) DO UPDATE SET last_commit = excluded.last_commit, seen_at = now()`
/**
 * Waits for a transaction of this writer that the database is still at. It is a commit of its own, so that whatever it saw is as durable
 * as itself, on standbys too.
 */
const LAST_COMMIT = `
  INSERT INTO writers (id, last_commit) VALUES ($1, 0)
  ON CONFLICT (id) DO UPDATE SET seen_at = now() RETURNING last_commit`

/**
 * Group commit. All writes of one tick are in one transaction, in the order they were made; while it is on its way later ticks are
 * collected for the next. When the database is away or refuses to write, writes that may be refused are refused at once, the others wait
 * here, bounded, and are tried again until they are in, each once.
 */
export class PostgresJournal {
  readonly #options: PostgresJournalOptions
  readonly #queue = new WriteQueue<Entry>()
  readonly #fullAtBytes: number
  readonly #maxWaitingBytes: number
  /** Nobody else has it: marks of its transactions are its own. */
  readonly #id = randomUUID()
  readonly #connection: WriterConnection
  /** A hub that is alone writes a database whose sessions hubs have claimed before. */
  isAfterSharing = false
  #state: JournalState = { phase: "running" }
  #doubt: Doubt | undefined
  /** The number of the last transaction that was begun. */
  #lastNumber = 0
  #isScheduled = false
  #isStopping = false
  #working: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #roomWaiters: (() => void)[] = []

  constructor(options: PostgresJournalOptions) {
    this.#options = options
    this.#connection = new WriterConnection(options.url, `signalbox ${this.#id}`, options.fences !== undefined)
    this.#fullAtBytes = options.fullAtBytes ?? 32 * MIB
    this.#maxWaitingBytes = options.maxWaitingBytes ?? 128 * MIB
  }

  /** The hub's id where others share the database. */
  get hub(): string | null {
    return this.#options.fences?.hub ?? null
  }

  get isStalled(): boolean {
    return this.#state.phase === "stalled"
  }

  get waitingBytes(): number {
    return this.#queue.bytes
  }

  /** Connects, so that nobody else writes the database from here on. */
  open(): Promise<void> {
    return this.#connection.open()
  }

  async write(statement: Statement, options: WriteOptions & { readonly isAfterEvents?: boolean }): Promise<Written> {
    const { bytes, refusable, session, isAfterEvents = false } = options
    const fence = session === undefined ? undefined : this.#options.fences?.of(session)
    const job = { kind: "statement" as const, statement, isAfterEvents, fence, result: NOTHING }
    await this.#enqueue(job, { bytes, refusable })
    return job.result
  }

  async append(session: string, events: readonly NewEvent[], options: WriteOptions): Promise<Appended> {
    const fence = this.#options.fences?.of(session)
    const isAnyones = this.isAfterSharing
    const job = { kind: "append" as const, session, events, fence, isAnyones, result: NO_EVENTS, log: 0 }
    await this.#enqueue(job, options)
    return job.result
  }

  /** Resolves when there is room for more: whoever reads from an agent awaits it before the next line. */
  room(): Promise<void> {
    if (this.#hasRoom()) return Promise.resolve()
    return new Promise((resolve) => {
      this.#roomWaiters.push(resolve)
    })
  }

  /** The end is near: nobody waits for room any more, and what cannot be written now is refused. */
  stopWaiting(): void {
    this.#isStopping = true
    if (this.#state.phase === "stalled") {
      clearTimeout(this.#state.retry)
      this.#work()
    }
    this.#releaseRoom()
  }

  /** Writes what waits, once more also in trouble; what cannot be written is refused, and so is every later write. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  #enqueue(job: Job, options: WriteOptions): Promise<void> {
    const refusal = this.#refusal(options.refusable)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      this.#queue.add({ job, ...options, resolve, reject })
      this.#schedule()
    })
  }

  #refusal(refusable: boolean): HubError | undefined {
    if (this.#state.phase === "closed")
      return new HubError("hub/stopping", "The hub is stopping: try again in a moment.")
    const trouble = this.#state.phase === "stalled" ? this.#state.error : undefined
    if ((refusable || this.#isStopping) && trouble !== undefined) return trouble
    if (this.#queue.bytes < this.#maxWaitingBytes) return undefined
    return (
      trouble ?? new HubError("store/failed", "More is being written than the database takes: try again in a moment.")
    )
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#queue.endTick()
      if (this.#state.phase === "running") this.#work()
    })
  }

  /** One transaction after the other, until nothing waits or the database is in trouble. */
  #work(): void {
    if (this.#working !== undefined) return
    this.#working = (this.#state.phase === "stalled" ? this.#tryAgain() : this.#drain()).finally(() => {
      this.#working = undefined
      // Ended while this one was on its way out.
      if (this.#state.phase === "running" && this.#queue.hasBacklog) this.#work()
    })
  }

  async #drain(): Promise<void> {
    while (this.#state.phase === "running" && this.#queue.hasBacklog) {
      let trouble = await this.#commit(this.#queue.takeBatch())
      if (trouble?.isLost === true) trouble = await this.#commitAgain()
      if (trouble !== undefined) this.#stall(trouble.error)
      else this.#releaseRoom()
    }
  }

  async #tryAgain(): Promise<void> {
    this.#queue.endTick()
    const trouble = await this.#commitAgain()
    if (trouble !== undefined) this.#stall(trouble.error)
    if (trouble !== undefined || this.#state.phase !== "stalled") return
    const { since } = this.#state
    this.#state = { phase: "running" }
    this.#options.onRecovered?.({ lastedMs: Date.now() - since })
    this.#releaseRoom()
  }

  /** If nothing waits, a transaction with nothing but its mark tells whether the database can be written again. */
  async #commitAgain(): Promise<Trouble | undefined> {
    return (await this.#askAboutDoubt()) ?? (await this.#commit(this.#queue.takeBatch()))
  }

  /** Settles the entries and returns undefined, or returns why not, and they are back in the queue or in doubt. */
  async #commit(batch: readonly Entry[]): Promise<Trouble | undefined> {
    const startedAt = performance.now()
    const number = ++this.#lastNumber
    let outcome: Outcome
    try {
      const client = await this.#connection.get()
      const jobs = batch.map(({ job }) => job)
      const { fences } = this.#options
      outcome = await transact(client, { text: MARK, values: [this.#id, number] }, { jobs, fences })
    } catch (error) {
      this.#queue.putBack(batch, () => true)
      return this.#disconnect(error)
    }
    const { failures } = outcome
    if (outcome.kind === "unknown") {
      this.#doubt = { number, batch, failures }
      return this.#disconnect(outcome.error)
    }
    const bytes = this.#settle(batch, failures)
    this.#options.onCommitted?.({ jobs: batch.length, bytes, durationMs: performance.now() - startedAt })
    return undefined
  }

  async #askAboutDoubt(): Promise<Trouble | undefined> {
    const doubt = this.#doubt
    if (doubt === undefined) return undefined
    let lastCommit: number
    try {
      const client = await this.#connection.get()
      const { rows } = await send(client, { text: LAST_COMMIT, values: [this.#id] })
      lastCommit = Number(rows[0]?.[0])
    } catch (error) {
      return this.#disconnect(error)
    }
    this.#doubt = undefined
    if (lastCommit === doubt.number) this.#settle(doubt.batch, doubt.failures)
    else this.#queue.putBack(doubt.batch, () => true)
    return undefined
  }

  #settle(batch: readonly Entry[], failures: Failures): number {
    const bytes = this.#queue.settle(batch)
    const logs = new Set<number>()
    for (const { job, resolve, reject } of batch) {
      const failure = failures.get(job)
      const { fence } = job
      if (failure !== undefined) reject(postgresFailure(failure, "The database does not take this"))
      else resolve()
      if (fence !== undefined && failure === undefined) fence.isNew = false
      const isMoved = failure instanceof HubError && failure.code === "hub/moved"
      if (fence !== undefined && isMoved) this.#options.onMoved?.(fence.session, fence.epoch)
      if (failure === undefined && job.kind === "append" && job.result.stored.length > 0) logs.add(job.log)
    }
    if (logs.size > 0) this.#options.onEvents?.([...logs])
    return bytes
  }

  #stall(error: HubError): void {
    if (this.#state.phase === "closed") return
    const before = this.#state.phase === "stalled" ? this.#state : undefined
    if (before !== undefined) clearTimeout(before.retry)
    const tries = (before?.tries ?? 0) + 1
    const delayMs = Math.min(MAX_RETRY_MS, (this.#options.retryMs ?? RETRY_MS) * 2 ** (tries - 1))
    const retry = setTimeout(() => this.#work(), delayMs)
    this.#state = { phase: "stalled", since: before?.since ?? Date.now(), error, tries, retry }
    const mayWait = ({ refusable }: Entry) => !refusable && !this.#isStopping
    this.#reject(this.#queue.putBack([], mayWait), error)
    if (before === undefined) this.#options.onTrouble?.(error)
  }

  async #close(): Promise<void> {
    if (this.#state.phase === "stalled") clearTimeout(this.#state.retry)
    this.#queue.endTick()
    this.#state = { phase: "closed" }
    await this.#working
    let trouble = await this.#askAboutDoubt()
    while (trouble === undefined && this.#queue.hasBacklog) trouble = await this.#commit(this.#queue.takeBatch())
    if (trouble !== undefined) {
      this.#reject([...(this.#doubt?.batch ?? []), ...this.#queue.putBack([], () => false)], trouble.error)
    }
    this.#releaseRoom()
    await this.#connection.close()
  }

  #disconnect(error: unknown): Trouble {
    this.#connection.cut()
    const what = "The database cannot be written: look at its server, its disk and its address"
    return { error: postgresFailure(error, what), isLost: isLost(error) }
  }

  #reject(entries: readonly Entry[], error: HubError): void {
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
