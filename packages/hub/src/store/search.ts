import { Worker } from "node:worker_threads"
import type { SearchReply } from "@signalbox/protocol/hub-api"
import type { SearchQuery } from "../core.ts"
import { HubError } from "../errors.ts"
import type { FromSearchThread, SearchThreadData, ToSearchThread } from "./search/search-messages.ts"
import { COMMITS, IS_ASLEEP, SIGNAL_BYTES } from "./search/search-signal.js"

/** The thread of an index in a file. */
const FILE_THREAD = new URL("./search/search-thread.js", import.meta.url)

/** The caller that starts a hub waits for it: the thread starts later, or with the first question. */
const START_AFTER_MS = 500
const TIMEOUT_MS = 10_000
const CATCH_UP_TIMEOUT_MS = 60_000
/** The thread does it beside its other work, and rests while there is traffic. */
const FORGET_TIMEOUT_MS = 10 * 60_000
const MAX_WAITING = 64
/** Logs with commits are told together, so that a commit costs no message. */
const TELL_LOGS_MS = 50
/** A thread that ends is started again so often within a minute. */
const MAX_STARTS = 5
const STARTS_MS = 60_000
/** The thread ends after its step. One that is ended inside SQLite takes the whole process along, so it gets long on a busy machine. */
const CLOSE_TIMEOUT_MS = 15_000

interface Waiting {
  readonly resolve: (message: FromSearchThread) => void
  readonly reject: (error: HubError) => void
  readonly timer: NodeJS.Timeout
}

/**
 * Full-text search over all that was said and done, newest first, and over the titles of sessions, which come before. A
 * thread of its own follows the log, keeps the index and answers: nothing of it is done on this one.
 */
export class Search {
  readonly #data: object
  readonly #thread: URL
  readonly #signal = new Int32Array(new SharedArrayBuffer(SIGNAL_BYTES))
  readonly #waiting = new Map<number, Waiting>()
  readonly #logs = new Set<number>()
  #telling: NodeJS.Timeout | undefined
  #starts: number[] = []
  #startTimer: NodeJS.Timeout | undefined
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false

  /** `data`: where the thread finds the log and its index. */
  constructor(data: Omit<SearchThreadData, "signal">)
  constructor(data: object, thread: URL)
  constructor(data: object, thread = FILE_THREAD) {
    this.#data = data
    this.#thread = thread
    this.#startLater()
  }

  async search(query: SearchQuery): Promise<SearchReply> {
    const message = await this.#ask((id) => ({ kind: "search", id, query }), TIMEOUT_MS)
    if (message.kind !== "found") throw new Error(`A search was answered with "${message.kind}".`)
    return message.reply
  }

  /** Something was committed: in these logs, where the thread cannot find out by itself. */
  wake(logs: readonly number[] = []): void {
    Atomics.add(this.#signal, COMMITS, 1)
    for (const log of logs) this.#logs.add(log)
    if (logs.length > 0) this.#telling ??= setTimeout(() => this.#tellLogs(), TELL_LOGS_MS).unref()
    else if (Atomics.compareExchange(this.#signal, IS_ASLEEP, 1, 0) === 1) this.#tell({ kind: "wake", logs })
  }

  /** Resolves when everything that was committed can be found. */
  async caughtUp(): Promise<void> {
    await this.#ask((id) => ({ kind: "catch-up", id }), CATCH_UP_TIMEOUT_MS)
  }

  /** Resolves when nothing of these purged sessions is left in the index. They are named by their numbers in the log. */
  async forget(sessions: readonly number[]): Promise<void> {
    await this.#ask((id) => ({ kind: "forget", id, sessions }), FORGET_TIMEOUT_MS)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#startTimer)
    clearTimeout(this.#telling)
    this.#rejectAll(new HubError("hub/stopping", "The hub is stopping: try again in a moment."))
    const worker = this.#worker
    if (worker === undefined) return
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()))
    this.#tell({ kind: "close" })
    const late = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS)
    await exited
    clearTimeout(late)
  }

  #ask(compose: (id: number) => ToSearchThread, timeoutMs: number): Promise<FromSearchThread> {
    if (this.#isClosed)
      return Promise.reject(new HubError("hub/stopping", "The hub is stopping: try again in a moment."))
    if (this.#waiting.size >= MAX_WAITING) {
      return Promise.reject(new HubError("hub/busy", "Too many searches at once: try again in a moment."))
    }
    this.#worker ??= this.#start()
    if (this.#worker === undefined) return Promise.reject(failure("its thread keeps ending"))
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id)
        reject(failure("it took too long"))
      }, timeoutMs)
      this.#waiting.set(id, { resolve, reject, timer })
      this.#tell(compose(id))
    })
  }

  /** Without a thread they are forgotten: the next one looks for itself when it starts. */
  #tellLogs(): void {
    this.#telling = undefined
    this.#tell({ kind: "wake", logs: [...this.#logs] })
    this.#logs.clear()
  }

  #startLater(): void {
    this.#startTimer = setTimeout(() => {
      this.#worker ??= this.#start()
    }, START_AFTER_MS).unref()
  }

  /** Undefined when it was started too often. */
  #start(): Worker | undefined {
    const now = Date.now()
    this.#starts = this.#starts.filter((at) => now - at < STARTS_MS)
    if (this.#starts.length >= MAX_STARTS) return undefined
    this.#starts.push(now)
    Atomics.store(this.#signal, IS_ASLEEP, 0)
    const worker = new Worker(this.#thread, { workerData: { ...this.#data, signal: this.#signal }, execArgv: [] })
    worker.unref()
    worker.on("message", (message: FromSearchThread) => this.#settle(message))
    let reason = "its thread ended"
    worker.on("error", (error: Error) => {
      reason = error.message
    })
    worker.on("exit", () => {
      this.#worker = undefined
      this.#rejectAll(failure(reason))
      if (!this.#isClosed) this.#startLater()
    })
    return worker
  }

  #settle(message: FromSearchThread): void {
    const waiting = this.#waiting.get(message.id)
    if (waiting === undefined) return
    this.#waiting.delete(message.id)
    clearTimeout(waiting.timer)
    if (message.kind === "failed") waiting.reject(failure(message.reason))
    else waiting.resolve(message)
  }

  #rejectAll(error: HubError): void {
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer)
      reject(error)
    }
    this.#waiting.clear()
  }

  #tell(message: ToSearchThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
    this.#worker?.postMessage(message)
  }
}

function failure(reason: string): HubError {
  return new HubError("store/failed", `The search cannot be answered: try again in a moment. (${reason})`)
}
