import { WebSocket } from "ws"
import { TransportError } from "../errors.ts"
import { type Closed, closedError } from "../transport.ts"

export interface OutgoingLimits {
  /** Past this many bytes waiting on an open socket, `send` waits. */
  readonly highWaterBytes?: number
  /** As `highWaterBytes`, while there is no socket. */
  readonly outboxBytes?: number
  /** Past this many bytes waiting, `send` is refused with transport/overflow: somebody does not wait for it. */
  readonly maxWaitingBytes?: number
}

/** The part of a socket that sends. */
export interface FrameSocket {
  readonly readyState: number
  /** `done` gets an error when the frame was not written. */
  send(frame: string, done: (error?: Error) => void): void
}

interface Waiting {
  readonly line: string
  /** Replayed lines were handed over before; they are not counted as written again. */
  readonly replayed: boolean
  /** Somebody waits for this line to be handed over. */
  readonly settle?: { resolve(): void; reject(error: TransportError): void }
}

const DEFAULT_HIGH_WATER_BYTES = 1024 * 1024
const DEFAULT_OUTBOX_BYTES = 16 * 1024 * 1024
const DEFAULT_MAX_WAITING_BYTES = 64 * 1024 * 1024
/** Small lines of one tick share a frame up to this length; every reader splits frames into lines. */
const FRAME_CHARS = 64 * 1024

/**
 * Lines on their way out, in the order of the calls, over one socket after another. A line that a socket has written is
 * never sent again from here; one that it gave back unwritten is kept for the next. Lengths are counted in characters,
 * near enough to bytes for a bound.
 */
export class OutgoingLines {
  readonly #highWater: number
  readonly #outbox: number
  readonly #max: number
  readonly #onWritten: ((line: string) => void) | undefined
  #pending: Waiting[] = []
  #next = 0
  #pendingChars = 0
  /** Handed to the socket, and not yet said to be written. */
  #inFlightChars = 0
  /** What the socket gave back: it is broken, and its end is on the way. */
  #returned: Waiting[] = []
  #socket: FrameSocket | undefined
  #scheduled: NodeJS.Immediate | undefined

  /** `onWritten` is told of each line that a socket has written, in order, replayed ones excepted. */
  constructor(limits: OutgoingLimits, onWritten?: (line: string) => void) {
    this.#highWater = limits.highWaterBytes ?? DEFAULT_HIGH_WATER_BYTES
    this.#outbox = limits.outboxBytes ?? DEFAULT_OUTBOX_BYTES
    this.#max = limits.maxWaitingBytes ?? DEFAULT_MAX_WAITING_BYTES
    this.#onWritten = onWritten
  }

  /** Resolves when there is room for another line. A send that is refused was never handed to a socket. */
  send(line: string): Promise<void> {
    if (this.#waitingBytes() > this.#max) {
      const waiting = this.#waitingBytes()
      const text = `${waiting} bytes wait to be sent, the bound is ${this.#max}; wait for send before sending more`
      return Promise.reject(new TransportError("transport/overflow", text, { details: { waiting, bound: this.#max } }))
    }
    this.#pendingChars += line.length + 1
    if (this.#waitingBytes() <= (this.#socket === undefined ? this.#outbox : this.#highWater)) {
      this.#pending.push({ line, replayed: false })
      this.#schedule()
      return Promise.resolve()
    }
    this.#schedule()
    return new Promise((resolve, reject) => {
      this.#pending.push({ line, replayed: false, settle: { resolve, reject } })
    })
  }

  /** From now on lines go to this socket: first the replayed ones, then those that waited. */
  attach(socket: FrameSocket, replay: readonly string[] = []): void {
    this.#socket = socket
    const waited = this.#pending.slice(this.#next)
    this.#pending = [...replay.map((line) => ({ line, replayed: true })), ...waited]
    this.#next = 0
    for (const line of replay) this.#pendingChars += line.length + 1
    if (this.#pending.length > 0) this.#schedule()
  }

  /** The socket is gone. "keep" holds what waited for the next one; "drop" forgets it, and nobody is told. */
  detach(waiting: "keep" | "drop"): void {
    this.#socket = undefined
    this.#unschedule()
    const left = [...this.#returned.splice(0), ...this.#pending.slice(this.#next)]
    this.#inFlightChars = 0
    // Replayed lines are still in the ring they came from.
    this.#reset(waiting === "keep" ? left.filter((entry) => !entry.replayed) : [])
    if (waiting === "drop") for (const entry of left) entry.settle?.resolve()
  }

  /** Hands over every line whose send has resolved, and refuses the others: what is refused is not sent. */
  finish(closed: Closed): void {
    this.#unschedule()
    const left = this.#pending.slice(this.#next)
    this.#reset(left.filter((entry) => entry.settle === undefined))
    while (this.#isOpen() && this.#next < this.#pending.length)
      this.#socket?.send(asFrame(this.#takeLines()), ignoreFailure)
    this.#reset([])
    this.#socket = undefined
    for (const entry of left) entry.settle?.reject(closedError(closed))
  }

  #waitingBytes(): number {
    return this.#pendingChars + this.#inFlightChars
  }

  #isOpen(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  #schedule(): void {
    if (this.#socket === undefined || this.#scheduled !== undefined) return
    this.#scheduled = setImmediate(() => {
      this.#scheduled = undefined
      this.#pump()
    })
  }

  #unschedule(): void {
    clearImmediate(this.#scheduled)
    this.#scheduled = undefined
  }

  /** Only as much as the socket takes without piling up: what stays here is not lost with the socket. */
  #pump(): void {
    const socket = this.#socket
    if (socket === undefined || this.#returned.length > 0) return
    // A socket that is broken and does not know it yet reports an empty buffer, so only its own word counts.
    while (this.#isOpen() && this.#next < this.#pending.length && this.#inFlightChars < this.#highWater) {
      const entries = this.#takeLines()
      const frame = asFrame(entries)
      this.#inFlightChars += frame.length
      socket.send(frame, (error) => this.#afterWrite(socket, entries, error ? 0 : frame.length))
    }
  }

  #afterWrite(socket: FrameSocket, entries: readonly Waiting[], written: number): void {
    if (written > 0) {
      for (const { line, replayed } of entries) if (!replayed) this.#onWritten?.(line)
    }
    if (this.#socket !== socket) return
    this.#inFlightChars -= written
    if (written === 0) this.#returned.push(...entries.map(({ line, replayed }) => ({ line, replayed })))
    else if (this.#next < this.#pending.length) this.#schedule()
  }

  /** The next lines that share a frame. */
  #takeLines(): Waiting[] {
    const entries: Waiting[] = []
    for (let chars = 0; chars < FRAME_CHARS; ) {
      const entry = this.#pending[this.#next]
      if (entry === undefined) break
      this.#next++
      chars += entry.line.length + 1
      entries.push(entry)
      entry.settle?.resolve()
      this.#pendingChars -= entry.line.length + 1
    }
    if (this.#next === this.#pending.length) this.#reset([])
    else this.#compact()
    return entries
  }

  /** Forgets what was taken, seldom enough that a long queue costs linear time. */
  #compact(): void {
    if (this.#next < 1024 || this.#next * 2 < this.#pending.length) return
    this.#pending = this.#pending.slice(this.#next)
    this.#next = 0
  }

  #reset(entries: Waiting[]): void {
    this.#pending = entries
    this.#next = 0
    this.#pendingChars = entries.reduce((sum, entry) => sum + entry.line.length + 1, 0)
  }
}

/** A frame always ends in a newline: old CLIs hold a line back until they see one. */
function asFrame(entries: readonly Waiting[]): string {
  let frame = ""
  for (const { line } of entries) frame += `${line}\n`
  return frame
}

function ignoreFailure(): void {}
