import { LineQueue } from "./line-queue.ts"
import { assertSendable, type Closed, closedError, type Transport } from "./transport.ts"

/** Two transports in memory, each the other's peer. For tests, and for an agent that lives in the same process. */
export function createLinkedPair(options: { highWaterChars?: number } = {}): [Transport, Transport] {
  const left = new PairEnd(options)
  const right = new PairEnd(options)
  left.peer = right
  right.peer = left
  return [left, right]
}

class PairEnd implements Transport {
  readonly lines: LineQueue
  readonly closed: Promise<Closed>
  peer: PairEnd | undefined
  #over: Closed | undefined
  #settle: (closed: Closed) => void = () => undefined
  /** Sends that wait for this end's reader. */
  #waiting: (() => void)[] = []

  constructor(options: { highWaterChars?: number }) {
    this.lines = new LineQueue({ ...options, onRoom: () => this.#release() })
    this.closed = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  async send(line: string): Promise<void> {
    if (this.#over !== undefined) throw closedError(this.#over)
    assertSendable(line)
    const room = this.peer?.accept(line)
    if (room === undefined) return
    await room
    if (this.#over !== undefined) throw closedError(this.#over)
  }

  async close(reason = "closed"): Promise<void> {
    this.#finish({ by: "us", reason })
    this.peer?.finishFromPeer(reason)
    await this.closed
  }

  /** Takes a line; the promise, if there is one, resolves when there is room for the next. */
  accept(line: string): Promise<void> | undefined {
    if (this.lines.push([line])) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  finishFromPeer(reason: string): void {
    this.#finish({ by: "peer", reason })
  }

  #finish(closed: Closed): void {
    if (this.#over !== undefined) return
    this.#over = closed
    this.lines.end()
    this.#release()
    this.#settle(closed)
  }

  #release(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
