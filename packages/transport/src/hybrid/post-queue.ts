import { TransportError } from "../errors.ts"
import { type Closed, closedError } from "../transport.ts"
import type { Clock } from "../websocket/clock.ts"
import { judgePost, type PostPolicy } from "./post-policy.ts"
import { createPoster, type Poster } from "./post-request.ts"

/** Events that will never arrive. */
export interface DroppedEvents {
  readonly lines: readonly string[]
  readonly why: string
}

export interface PostQueueOptions {
  readonly url: URL
  /** Asked for each POST. */
  readonly headers: () => Readonly<Record<string, string>>
  readonly policy: PostPolicy
  readonly highWaterBytes: number
  readonly maxWaitingBytes: number
  readonly clock: Clock
  readonly random: () => number
  readonly onDropped: (dropped: DroppedEvents) => void
}

interface Entry {
  readonly line: string
  /** A `stream_event` may wait until then for company; 0: it may not wait. */
  readonly dueAt: number
  readonly settle?: { resolve(): void; reject(error: TransportError): void }
}

/** Lines out by POST: in order, one request at a time, tried again as the policy says. */
export class PostQueue {
  readonly #options: PostQueueOptions
  readonly #poster: Poster
  #entries: Entry[] = []
  #waitingChars = 0
  #posting = false
  #stopped = false
  /** Nothing is waited for any more: what is left goes out now. */
  #finishing = false
  #cancelTimer: () => void = () => undefined
  #whenIdle: (() => void)[] = []

  constructor(options: PostQueueOptions) {
    this.#options = options
    this.#poster = createPoster(options.url.protocol === "https:", options.clock)
  }

  send(line: string): Promise<void> {
    const { highWaterBytes, maxWaitingBytes, policy, clock } = this.#options
    if (this.#waitingChars > maxWaitingBytes) {
      const text = `${this.#waitingChars} bytes wait to be posted, the bound is ${maxWaitingBytes}`
      return Promise.reject(new TransportError("transport/overflow", text))
    }
    const mayWait = policy.streamEventDelayMs > 0 && isStreamEvent(line)
    const dueAt = mayWait ? clock.now() + policy.streamEventDelayMs : 0
    this.#waitingChars += line.length
    const room = this.#waitingChars <= highWaterBytes
    const taken = room
      ? this.#add({ line, dueAt })
      : new Promise<void>((resolve, reject) => void this.#add({ line, dueAt, settle: { resolve, reject } }))
    this.#kick()
    return taken
  }

  /** Refuses what has no room yet, and posts the rest; resolves when that is done, or when the time is up. */
  async finish(closed: Closed, timeoutMs: number): Promise<void> {
    this.#refuseWaiting(closed)
    this.#finishing = true
    this.#kick()
    if (!this.#posting && this.#entries.length === 0) return
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(timeoutMs, resolve)
      this.#whenIdle.push(() => {
        cancel()
        resolve()
      })
    })
  }

  stop(closed: Closed): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#refuseWaiting(closed)
    const left = this.#entries.splice(0)
    if (left.length > 0) this.#drop(left, "closed")
    this.#cancelTimer()
    this.#poster.destroy()
    this.#signalIdle()
  }

  #add(entry: Entry): Promise<void> {
    this.#entries.push(entry)
    return Promise.resolve()
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

  #kick(): void {
    if (this.#posting || this.#stopped) return
    this.#cancelTimer()
    const waitMs = this.#waitMs()
    if (waitMs === undefined) return this.#signalIdle()
    if (waitMs > 0) {
      this.#cancelTimer = this.#options.clock.after(waitMs, () => this.#kick())
      return
    }
    void this.#post(this.#takeBatch())
  }

  /** Never rejects. */
  async #post(batch: readonly Entry[]): Promise<void> {
    this.#posting = true
    await this.#deliver(batch)
    this.#posting = false
    for (const entry of batch) this.#waitingChars -= entry.line.length
    this.#kick()
  }

  /** Until the next POST may leave; undefined when there is nothing to post. */
  #waitMs(): number | undefined {
    const first = this.#entries[0]
    if (first === undefined) return undefined
    const isFullOrUrgent =
      this.#finishing ||
      this.#entries.length >= this.#options.policy.maxBatchEvents ||
      this.#entries.some((entry) => entry.dueAt === 0)
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

  /** Comes back when the batch has arrived or is given up. */
  async #deliver(batch: readonly Entry[]): Promise<void> {
    const { policy, random, url, headers } = this.#options
    // The lines are JSON already, so their own bytes become the elements of the array.
    const body = `{"events":[${batch.map((entry) => entry.line).join(",")}]}`
    for (let tries = 1; !this.#stopped; tries++) {
      const outcome = await this.#poster.post({ url, headers, body, timeoutMs: policy.timeoutMs })
      const verdict = judgePost(policy, tries, outcome, random())
      if (verdict.next === "done") return
      if (verdict.next === "drop") return this.#drop(batch, verdict.why)
      if (!this.#stopped) await this.#sleep(verdict.delayMs)
    }
    this.#drop(batch, "closed")
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

  #signalIdle(): void {
    for (const resolve of this.#whenIdle.splice(0)) resolve()
  }
}

function isStreamEvent(line: string): boolean {
  if (!line.includes('"stream_event"')) return false
  const message: unknown = JSON.parse(line)
  return typeof message === "object" && message !== null && "type" in message && message.type === "stream_event"
}
