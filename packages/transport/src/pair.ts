import { LineQueue } from "./line-queue.ts"
import { deferred, Waker } from "./pacing.ts"
import {
  assertSendable,
  type Closed,
  closedError,
  DEFAULT_MAX_WAITING_BYTES,
  type FlowLimits,
  overflowError,
  type SendLimits,
  type Transport,
} from "./transport.ts"

type PairLimits = FlowLimits & SendLimits

/** Two transports in memory, each the other's peer. For tests, and for an agent that lives in the same process. */
export function createLinkedPair(limits: PairLimits = {}): [Transport, Transport] {
  const left = new PairEnd(limits)
  const right = new PairEnd(limits)
  left.peer = right
  right.peer = left
  return [left, right]
}

class PairEnd implements Transport {
  readonly lines: LineQueue
  readonly #closing = deferred<Closed>()
  readonly closed: Promise<Closed> = this.#closing.promise
  peer: PairEnd | undefined
  readonly #maxWaitingBytes: number
  #over: Closed | undefined
  /** Sends that wait for this end's reader. */
  readonly #room = new Waker()

  constructor({ highWaterChars, maxWaitingBytes }: PairLimits) {
    this.lines = new LineQueue({ highWaterChars, onRoom: () => this.#room.wake() })
    this.#maxWaitingBytes = maxWaitingBytes ?? DEFAULT_MAX_WAITING_BYTES
  }

  async send(line: string): Promise<void> {
    if (this.#over !== undefined) throw closedError(this.#over)
    assertSendable(line)
    // From here on the peer has the line, so that the end of the connection is no refusal.
    await this.peer?.accept(line)
  }

  async close(reason = "closed"): Promise<void> {
    this.finish({ by: "us", reason })
    this.peer?.finish({ by: "peer", reason })
    await this.closed
  }

  /** Takes a line; the promise, if there is one, resolves when there is room for the next, or the connection is over. */
  accept(line: string): Promise<void> | undefined {
    const { waitingChars } = this.lines
    if (waitingChars > this.#maxWaitingBytes) throw overflowError(waitingChars, this.#maxWaitingBytes)
    return this.lines.push([line]) ? undefined : this.#room.wait()
  }

  finish(closed: Closed): void {
    if (this.#over !== undefined) return
    this.#over = closed
    this.lines.end()
    this.#room.wake()
    this.#closing.resolve(closed)
  }
}
