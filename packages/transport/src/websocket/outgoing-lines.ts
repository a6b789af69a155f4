import { parseJson, textOf } from "@signalbox/protocol/envelope"
import { Fifo } from "@signalbox/protocol/item-queue"
import { WebSocket } from "ws"
import type { TransportError } from "../errors.ts"
import {
  type Closed,
  closedError,
  DEFAULT_HIGH_WATER_CHARS,
  DEFAULT_MAX_WAITING_BYTES,
  DEFAULT_RING_BYTES,
  type FlowLimits,
  overflowError,
  type SendLimits,
} from "../transport.ts"

export interface OutgoingLimits extends FlowLimits, SendLimits {
  /** As `highWaterChars` for sending, while there is no socket. */
  readonly outboxBytes?: number
}

export type OutgoingSettings = Required<OutgoingLimits>

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

const DEFAULT_OUTBOX_BYTES = 16 * 1024 * 1024
const KEEP_ALIVE_LINE = '{"type":"keep_alive"}'
/** Small lines of one tick share a frame up to this length; every reader splits frames into lines. */
const FRAME_CHARS = 64 * 1024

export function settleOutgoingLimits(limits: OutgoingLimits): OutgoingSettings {
  return {
    highWaterChars: limits.highWaterChars ?? DEFAULT_HIGH_WATER_CHARS,
    outboxBytes: limits.outboxBytes ?? DEFAULT_OUTBOX_BYTES,
    maxWaitingBytes: limits.maxWaitingBytes ?? DEFAULT_MAX_WAITING_BYTES,
  }
}

/**
 * Lines on their way out, in the order of the calls, over one socket after another. A line that a socket has written is
 * never sent again from here; one that it gave back unwritten is kept for the next. Lengths are counted in characters,
 * near enough to bytes for a bound.
 */
export class OutgoingLines {
  readonly #limits: OutgoingSettings
  readonly #onWritten: ((line: string) => void) | undefined
  readonly #pending = new Fifo<Waiting>()
  #pendingChars = 0
  /** Handed to the socket, and not yet said to be written. */
  #inFlightChars = 0
  /** The socket's error: it is broken, and its end is on the way. */
  #returned: Waiting[] = []
  #socket: FrameSocket | undefined
  #scheduled: NodeJS.Immediate | undefined

  /** `onWritten` is told of each line that a socket has written, in order, replayed ones excepted. */
  constructor(limits: OutgoingSettings, onWritten?: (line: string) => void) {
    this.#limits = limits
    this.#onWritten = onWritten
  }

  /** Resolves when there is room for another line. A send that is refused was never handed to a socket. */
  send(line: string): Promise<void> {
    const { highWaterChars, outboxBytes, maxWaitingBytes } = this.#limits
    const waiting = this.#pendingChars + this.#inFlightChars
    if (waiting > maxWaitingBytes) return Promise.reject(overflowError(waiting, maxWaitingBytes))
    this.#schedule()
    if (waiting + line.length + 1 <= (this.#socket === undefined ? outboxBytes : highWaterChars)) {
      this.#add({ line, replayed: false })
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => this.#add({ line, replayed: false, settle: { resolve, reject } }))
  }

  /** One that finds no room is no loss: what fills the room keeps the connection alive as well. */
  sendKeepAlive(): void {
    this.send(KEEP_ALIVE_LINE).catch(() => undefined)
  }

  /** From now on lines go to this socket: first the replayed ones, then those that waited. */
  attach(socket: FrameSocket, replay: readonly string[] = []): void {
    this.#socket = socket
    const waited = this.#takeAll()
    for (const line of replay) this.#add({ line, replayed: true })
    for (const entry of waited) this.#add(entry)
    if (this.#pending.length > 0) this.#schedule()
  }

  /** The socket is gone. "keep" holds what waited for the next one; "drop" forgets it, and nobody is told. */
  detach(waiting: "keep" | "drop"): void {
    this.#socket = undefined
    this.#unschedule()
    const left = [...this.#returned.splice(0), ...this.#takeAll()]
    this.#inFlightChars = 0
    for (const entry of left) {
      if (waiting === "drop") entry.settle?.resolve()
      // Replayed lines are still in the ring they came from.
      else if (!entry.replayed) this.#add(entry)
    }
  }

  /** Hands over every line whose send has resolved, and refuses the others: what is refused is not sent. */
  finish(closed: Closed): void {
    this.#unschedule()
    const left = this.#takeAll()
    for (const entry of left) if (entry.settle === undefined) this.#add(entry)
    while (this.#isOpen() && this.#pending.length > 0) this.#socket?.send(asFrame(this.#takeLines()), ignoreFailure)
    this.#takeAll()
    this.#socket = undefined
    for (const entry of left) entry.settle?.reject(closedError(closed))
  }

  #add(entry: Waiting): void {
    this.#pending.push(entry)
    this.#pendingChars += entry.line.length + 1
  }

  #takeAll(): Waiting[] {
    this.#pendingChars = 0
    return this.#pending.takeAll()
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
    while (this.#isOpen() && this.#pending.length > 0 && this.#inFlightChars < this.#limits.highWaterChars) {
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
    else if (this.#pending.length > 0) this.#schedule()
  }

  /** The next lines that share a frame. */
  #takeLines(): Waiting[] {
    const entries: Waiting[] = []
    for (let chars = 0; chars < FRAME_CHARS; ) {
      const entry = this.#pending.take()
      if (entry === undefined) break
      chars += entry.line.length + 1
      entries.push(entry)
      entry.settle?.resolve()
      this.#pendingChars -= entry.line.length + 1
    }
    return entries
  }
}

/** A frame always ends in a newline: old CLIs hold a line back until they see one. */
function asFrame(entries: readonly Waiting[]): string {
  let frame = ""
  for (const { line } of entries) frame += `${line}\n`
  return frame
}

function ignoreFailure(): void {}

export interface RingLimits {
  readonly maxMessages?: number
  readonly maxBytes?: number
}

const DEFAULT_MAX_MESSAGES = 1000

/** The last messages that have a `uuid`, to be sent again when a connection broke: nobody says which of them arrived. */
export class MessageRing {
  readonly #maxMessages: number
  readonly #maxBytes: number
  #entries: { uuid: string; line: string }[] = []
  #chars = 0
  #lastUuid: string | undefined

  constructor(limits: RingLimits = {}) {
    this.#maxMessages = limits.maxMessages ?? DEFAULT_MAX_MESSAGES
    this.#maxBytes = limits.maxBytes ?? DEFAULT_RING_BYTES
  }

  /** The last message written, delivered or not; remembered even when the ring keeps nothing. */
  get lastUuid(): string | undefined {
    return this.#lastUuid
  }

  push(line: string): void {
    const uuid = uuidOf(line)
    if (uuid === undefined) return
    this.#lastUuid = uuid
    this.#entries.push({ uuid, line })
    this.#chars += line.length
    while (this.#entries.length > this.#maxMessages || (this.#chars > this.#maxBytes && this.#entries.length > 1)) {
      this.#chars -= this.#entries.shift()?.line.length ?? 0
    }
  }

  all(): string[] {
    return this.#entries.map((entry) => entry.line)
  }

  /** The lines after that message; all of them when it is not known. */
  after(uuid: string | undefined): string[] {
    const index = uuid === undefined ? -1 : this.#entries.findLastIndex((entry) => entry.uuid === uuid)
    return this.#entries.slice(index + 1).map((entry) => entry.line)
  }
}

function uuidOf(line: string): string | undefined {
  // Most lines without one are found without parsing.
  return line.includes('"uuid"') ? textOf(parseJson(line), "uuid") || undefined : undefined
}
