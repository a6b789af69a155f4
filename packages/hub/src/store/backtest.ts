import { Worker } from "node:worker_threads"
import { HubError } from "../errors.ts"
import type {
  BacktestJob,
  BacktestResults,
  BacktestThreadData,
  FromBacktestThread,
} from "./backtest/backtest-messages.ts"

/** How far a job is, several times, and then its result. */
export type BacktestStep<Result> =
  | { readonly progress: { readonly judged: number; readonly total: number } }
  | { readonly result: Result }

type ResultOf<Job extends BacktestJob> = BacktestResults[Job["kind"]]

/** A test of all there is takes seconds; one that takes longer than this ends with what it has. */
const TIMEOUT_MS = 120_000
/** Each job is a thread with a connection of its own: one test at a time, and beside it one check of a change. */
const MAX_WAITING = 4
/** A thread that needs more fails alone. */
const MAX_HEAP_MB = 512
/** One that is ended inside SQLite takes the whole process along, so it gets long on a busy machine. */
const CLOSE_TIMEOUT_MS = 15_000

/** Judges what was asked in the past, in a thread of its own for each job: nothing of it is done on this one. */
export class Backtests {
  readonly #store: string
  readonly #lanes = { long: new Lane(), short: new Lane() }
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()

  /** `store`: a database file, or the address of a PostgreSQL database. */
  constructor(store: string) {
    this.#store = store
  }

  /** A caller that leaves early, or aborts, ends the thread. */
  async *run<Job extends BacktestJob>(job: Job, signal?: AbortSignal): AsyncGenerator<BacktestStep<ResultOf<Job>>> {
    const ending = AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])])
    const leave = await this.#lanes[job.kind === "denied" ? "short" : "long"].enter(ending)
    if (ending.aborted) {
      leave()
      throw stopped()
    }
    const thread = new BacktestThread({ store: this.#store, job, timeoutMs: TIMEOUT_MS })
    const stop = () => thread.stop()
    ending.addEventListener("abort", stop)
    const exited = thread.exited.finally(() => {
      ending.removeEventListener("abort", stop)
      this.#running.delete(exited)
      leave()
    })
    this.#running.add(exited)
    try {
      for (;;) {
        const message = await thread.next()
        if (ending.aborted) throw stopped()
        if (message.kind === "progress") {
          const { judged, total } = message
          yield { progress: { judged, total } }
        } else {
          yield { result: resultIn(job, message) }
          return
        }
      }
    } finally {
      thread.stop()
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#running)
  }
}

/** The latest thing that a thread says: what it says of its progress is old as soon as it says more. */
class BacktestThread {
  readonly exited: Promise<void>
  readonly #stop = new Int32Array(new SharedArrayBuffer(4))
  readonly #worker: Worker
  #latest: FromBacktestThread | undefined
  #wake: () => void = () => undefined
  #late: NodeJS.Timeout | undefined

  constructor(data: Omit<BacktestThreadData, "stop">) {
    const workerData: BacktestThreadData = { ...data, stop: this.#stop }
    const worker = new Worker(new URL("./backtest/backtest-thread.js", import.meta.url), {
      workerData,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    })
    this.#worker = worker
    worker.on("message", (message: FromBacktestThread) => this.#take(message))
    worker.on("error", (error: Error) => this.#take({ kind: "failed", reason: error.message }))
    this.exited = new Promise((resolve) => {
      worker.once("exit", () => {
        clearTimeout(this.#late)
        if (this.#latest === undefined || this.#latest.kind === "progress") {
          this.#take({ kind: "failed", reason: "its thread ended" })
        }
        resolve()
      })
    })
  }

  async next(): Promise<FromBacktestThread> {
    if (this.#latest === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const message = this.#latest ?? { kind: "failed", reason: "its thread said nothing" }
    if (message.kind === "progress") this.#latest = undefined
    return message
  }

  /** It ends after the request it is at. */
  stop(): void {
    Atomics.store(this.#stop, 0, 1)
    this.#late ??= setTimeout(() => void this.#worker.terminate(), CLOSE_TIMEOUT_MS)
    this.#late.unref()
  }

  #take(message: FromBacktestThread): void {
    // Its last word stays.
    if (this.#latest !== undefined && this.#latest.kind !== "progress") return
    this.#latest = message
    this.#wake()
  }
}

/** One after the other, and only so many in line. */
class Lane {
  #last: Promise<void> = Promise.resolve()
  #count = 0

  /** Resolves when it is one's turn, with what ends it; an aborted one still gets its turn, and leaves at once. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#count > MAX_WAITING) {
      throw new HubError("hub/busy", "Too many policy tests at once: try again in a moment.", {
        details: { retryAfterSeconds: 5 },
      })
    }
    this.#count++
    const before = this.#last
    let leave: () => void = () => undefined
    const mine = new Promise<void>((resolve) => {
      leave = () => {
        this.#count--
        resolve()
      }
    })
    this.#last = before.then(() => mine)
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }))
    await Promise.race([before, aborted])
    return leave
  }
}

function resultIn<Job extends BacktestJob>(
  _job: Job,
  message: Exclude<FromBacktestThread, { kind: "progress" }>,
): ResultOf<Job> {
  switch (message.kind) {
    case "done":
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a thread answers the job that it was started with
      return message.result as ResultOf<Job>
    case "invalid":
      throw new HubError("policy/invalid", message.problems.join("; "), { details: { problems: message.problems } })
    case "failed":
      throw new HubError("store/failed", `The policy cannot be tested: try again in a moment. (${message.reason})`)
  }
}

function stopped(): HubError {
  return new HubError("hub/stopping", "The test was stopped.")
}
