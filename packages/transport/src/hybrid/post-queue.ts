import type { TransportError } from "../errors.ts"
import { deferred } from "../pacing.ts"
import { type Closed, closedError, overflowError } from "../transport.ts"
import type { DialSettings } from "../websocket/dial-options.ts"
import { nextPostStep, type PostPolicy } from "../websocket/retry-policies.ts"
import { createPoster, type Poster } from "./post-request.ts"

/** Events that will never arrive. */
export interface DroppedEvents {
  readonly lines: readonly string[]
  readonly why: string
}

type Settled = Pick<DialSettings, "highWaterChars" | "maxWaitingBytes" | "clock" | "random">
export interface PostQueueOptions extends Settled {
  readonly url: URL
  /** Asked for each POST. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly policy: PostPolicy
  /** Must not throw. */
  readonly onDropped: (dropped: DroppedEvents) => void
}

interface Entry {
  readonly line: string
  /** A `stream_event` may wait until then for company; 0: it may not wait. */
  readonly dueAt: number
  readonly settle?: { resolve(): void; reject(error: TransportError): void }
}

type State =
  /** No POST is under way; `stream_event`s may be waiting for company. */
  | { readonly name: "resting" }
  | { readonly name: "posting" }
  /** A POST is under way, and what is left follows it without waiting for anything. `emptied` is called after the last. */
  | { readonly name: "finishing"; readonly emptied: () => void }
  | { readonly name: "stopped" }

/** Lines out by POST: in order, one request at a time, tried again as the policy says. */
export class PostQueue {
  readonly #options: PostQueueOptions
  readonly #poster: Poster
  #state: State = { name: "resting" }
  #entries: Entry[] = []
  #waitingChars = 0
  /** Ends the wait for company, or for the next try. */
  #cancelTimer: () => void = () => undefined

  constructor(options: PostQueueOptions) {
    this.#options = options
    this.#poster = createPoster(options.url.protocol === "https:", options.clock)
  }

  /** Not after `finish` or `stop`. */
  send(line: string, kind: "stream_event" | "other"): Promise<void> {
    const { highWaterChars, maxWaitingBytes, policy, clock } = this.#options
    if (this.#waitingChars > maxWaitingBytes) {
      return Promise.reject(overflowError(this.#waitingChars, maxWaitingBytes))
    }
    const mayWait = policy.streamEventDelayMs > 0 && kind === "stream_event"
    const dueAt = mayWait ? clock.now() + policy.streamEventDelayMs : 0
    this.#waitingChars += line.length
    let taken = Promise.resolve()
    if (this.#waitingChars <= highWaterChars) this.#entries.push({ line, dueAt })
    else {
      taken = new Promise((resolve, reject) => this.#entries.push({ line, dueAt, settle: { resolve, reject } }))
    }
    this.#kick()
    return taken
  }

  /** Refuses what has no room yet, and posts the rest; resolves when that is done, or when the time is up. */
  async finish(closed: Closed, timeoutMs: number): Promise<void> {
    this.#refuseWaiting(closed)
    const { name } = this.#state
    if (name === "stopped" || (name === "resting" && this.#entries.length === 0)) return
    const { promise, resolve } = deferred<void>()
    this.#state = { name: "finishing", emptied: resolve }
    if (name === "resting") {
      this.#cancelTimer()
      this.#postBatch()
    }
    const cancel = this.#options.clock.after(timeoutMs, resolve)
    await promise
    cancel()
  }

  stop(closed: Closed): void {
    const before = this.#state
    if (before.name === "stopped") return
    this.#state = { name: "stopped" }
    this.#refuseWaiting(closed)
    const left = this.#entries.splice(0)
    if (left.length > 0) this.#drop(left, "closed")
    this.#cancelTimer()
    this.#poster.destroy()
    if (before.name === "finishing") before.emptied()
  }

  #refuseWaiting(closed: Closed): void {
    const all = this.#entries
    this.#entries = all.filter((entry) => entry.settle === undefined)
    for (const entry of all) {
      if (entry.settle === undefined) continue
      this.#waitingChars -= entry.line.length
      entry.settle.reject(closedError(closed))
    }
  }

  /** Begins a POST if none is under way and one is due. */
  #kick(): void {
    if (this.#state.name !== "resting") return
    this.#cancelTimer()
    const waitMs = this.#waitMs()
    if (waitMs === undefined) return
    if (waitMs > 0) {
      this.#cancelTimer = this.#options.clock.after(waitMs, () => this.#kick())
      return
    }
    this.#state = { name: "posting" }
    this.#postBatch()
  }

  #postBatch(): void {
    const batch = this.#takeBatch()
    void this.#deliver(batch).then(() => this.#delivered(batch))
  }

  #delivered(batch: readonly Entry[]): void {
    for (const entry of batch) this.#waitingChars -= entry.line.length
    if (this.#state.name === "posting") {
      this.#state = { name: "resting" }
      this.#kick()
    } else if (this.#state.name === "finishing") {
      if (this.#entries.length > 0) this.#postBatch()
      else this.#state.emptied()
    }
  }

  /** Until the next POST may leave; undefined when there is nothing to post. */
  #waitMs(): number | undefined {
    const first = this.#entries[0]
    if (first === undefined) return undefined
    const isFullOrUrgent =
      this.#entries.length >= this.#options.policy.maxBatchEvents || this.#entries.some((entry) => entry.dueAt === 0)
    return isFullOrUrgent ? 0 : Math.max(0, first.dueAt - this.#options.clock.now())
  }

  #takeBatch(): Entry[] {
    const { maxBatchEvents, maxBatchBytes } = this.#options.policy
    let chars = 0
    let count = 0
    for (const entry of this.#entries) {
      if (count > 0 && (count >= maxBatchEvents || chars + entry.line.length > maxBatchBytes)) break
      chars += entry.line.length
      count++
    }
    const batch = this.#entries.splice(0, count)
    for (const entry of batch) entry.settle?.resolve()
    return batch
  }

  /** Comes back when the batch has arrived or is given up. Never rejects. */
  async #deliver(batch: readonly Entry[]): Promise<void> {
    const { policy, random, url, headers } = this.#options
    // The lines are JSON already, so their own bytes become the elements of the array.
    const body = `{"events":[${batch.map((entry) => entry.line).join(",")}]}`
    for (let tries = 1; !this.#isStopped(); tries++) {
      const outcome = await this.#poster.post({ url, headers, body, timeoutMs: policy.timeoutMs })
      const step = nextPostStep(policy, tries, outcome, random())
      if (step.next === "done") return
      if (step.next === "drop") return this.#drop(batch, step.why)
      if (!this.#isStopped()) await this.#sleep(step.delayMs)
    }
    this.#drop(batch, "closed")
  }

  #isStopped(): boolean {
    return this.#state.name === "stopped"
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(delayMs, resolve)
      this.#cancelTimer = () => {
        cancel()
        resolve()
      }
    })
  }

  #drop(entries: readonly Entry[], why: string): void {
    this.#options.onDropped({ lines: entries.map((entry) => entry.line), why })
  }
}
