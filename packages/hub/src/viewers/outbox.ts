import { Waker } from "@signalbox/transport"
import type { WebSocket } from "ws"
import type { HubMetrics } from "../operations/metrics.ts"

/** Where an outbox's frames go: a WebSocket, or a test. */
export interface Sink {
  readonly bufferedAmount: number
  /** `done` is called when the frame has left, or never will. */
  send(frame: string | Buffer, done: () => void): void
}

export interface OutboxOptions {
  readonly sink: Sink
  /** What waits is more than the bound: whoever owns the outbox drops what can be had again. */
  readonly onOverflow: () => void
}

/** Events and deltas: one line, or a frame of whole lines that several viewers share. */
export type Bulk = {
  readonly sessionId: string
  /** The viewer's cursor when it was handed to the socket. */
  readonly seq?: number
} & ({ readonly text: string } | { readonly frame: Buffer })

/** A frame is filled no further than this. */
export const FRAME_CHARS = 256 * 1024
const SOCKET_BYTES = 1024 * 1024
const MAX_WAITING_CHARS = 16 * 1024 * 1024

/**
 * What waits to be sent to one viewer. Lines share frames. Control lines (asks, changes, pongs) go ahead of bulk (events,
 * deltas). A viewer that does not read fills its own outbox and nobody else's.
 */
export class Outbox {
  readonly #options: OutboxOptions
  #control: string[] = []
  #bulk: Bulk[] = []
  #waitingChars = 0
  #isScheduled = false
  #isClosed = false
  readonly #sent = new Map<string, number>()
  readonly #room = new Waker()
  readonly #drained = new Waker()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  control(text: string): void {
    if (this.#isClosed) return
    this.#control.push(text)
    this.#waitingChars += text.length
    if (this.#waitingChars > MAX_WAITING_CHARS) this.#options.onOverflow()
    this.#schedule()
  }

  bulk(items: readonly Bulk[]): void {
    if (this.#isClosed) return
    for (const item of items) {
      this.#bulk.push(item)
      this.#waitingChars += sizeOf(item)
    }
    if (this.#waitingChars > MAX_WAITING_CHARS) this.#options.onOverflow()
    this.#schedule()
  }

  /** The last event of a session that was handed to the socket. */
  sentUpTo(sessionId: string): number | undefined {
    return this.#sent.get(sessionId)
  }

  start(sessionId: string, after: number): void {
    this.#sent.set(sessionId, after)
  }

  get waitingChars(): number {
    return this.#waitingChars
  }

  /** Whether too much waits, also after what can be had again was dropped. */
  get isFull(): boolean {
    return this.#waitingChars > MAX_WAITING_CHARS
  }

  /** Forgets what waits of all sessions. */
  dropBulk(): void {
    this.#bulk = []
    this.#waitingChars = charsOf(this.#control)
    if (this.#waitingChars < FRAME_CHARS) this.#wake()
  }

  /** Forgets what waits of a session. */
  drop(sessionId: string): void {
    this.#bulk = this.#bulk.filter((item) => item.sessionId !== sessionId)
    this.#waitingChars = charsOf(this.#control) + this.#bulk.reduce((size, item) => size + sizeOf(item), 0)
    this.#sent.delete(sessionId)
    if (this.#waitingChars < FRAME_CHARS) this.#wake()
  }

  /** Resolves when little waits: who reads the log for a viewer reads no faster than the viewer does. */
  async room(): Promise<void> {
    if (this.#isClosed || this.#waitingChars < FRAME_CHARS) return
    await this.#room.wait()
  }

  /** Resolves when nothing waits any more: all of it was handed to the socket, or it is over. */
  async drained(): Promise<void> {
    while (!this.#isClosed && this.#waitingChars > 0) {
      await this.#drained.wait()
    }
  }

  close(): void {
    this.#isClosed = true
    this.#control = []
    this.#bulk = []
    this.#waitingChars = 0
    this.#wake()
  }

  #wake(): void {
    this.#room.wake()
    if (this.#waitingChars === 0) this.#drained.wake()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    const { sink } = this.#options
    while (!this.#isClosed && sink.bufferedAmount < SOCKET_BYTES) {
      const frame = this.#nextFrame()
      if (frame === undefined) return
      sink.send(frame, () => this.#schedule())
    }
  }

  #nextFrame(): string | Buffer | undefined {
    const lines = this.#control
    this.#control = []
    let chars = charsOf(lines)
    this.#waitingChars -= chars
    let taken = 0
    let shared: Buffer | undefined
    while (taken < this.#bulk.length && chars < FRAME_CHARS) {
      const item = this.#bulk[taken]
      // A shared frame goes alone, as it is: nothing is put together or encoded again.
      if (item === undefined || ("frame" in item && lines.length > 0)) break
      this.#hand(item)
      taken += 1
      if ("frame" in item) {
        shared = item.frame
        break
      }
      lines.push(item.text)
      chars += item.text.length
    }
    if (taken > 0) this.#bulk = taken === this.#bulk.length ? [] : this.#bulk.slice(taken)
    if (this.#waitingChars < FRAME_CHARS) this.#wake()
    if (shared !== undefined) return shared
    return lines.length === 0 ? undefined : `${lines.join("\n")}\n`
  }

  #hand(item: Bulk): void {
    this.#waitingChars -= sizeOf(item)
    if (item.seq !== undefined) this.#sent.set(item.sessionId, item.seq)
  }
}

function sizeOf(item: Bulk): number {
  return "frame" in item ? item.frame.length : item.text.length
}

function charsOf(texts: readonly string[]): number {
  return texts.reduce((chars, text) => chars + text.length, 0)
}

/** A WebSocket as an outbox sees it. */
export function socketSink(socket: WebSocket, metrics: Pick<HubMetrics, "bytesSent">): Sink {
  return {
    get bufferedAmount() {
      return socket.bufferedAmount
    },
    send(frame, done) {
      metrics.bytesSent(frame.length)
      // Text, also when it is encoded already.
      socket.send(frame, { binary: false }, () => done())
    },
  }
}
