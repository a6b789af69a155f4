import { fitCloseReason, frameText, LineQueue, TOO_LARGE } from "@signalbox/transport"
import { type Deferred, deferred } from "@signalbox/transport/pacing"
import type { RawData, WebSocket } from "ws"
import { alivenessOf } from "../http/door.ts"
import type { Caller } from "../model/access.ts"

export interface DoorSocketOptions {
  readonly socket: WebSocket
  readonly caller: Caller
}

/** Past this much unsent, the other end does not read, and is not there. */
const MAX_UNSENT_BYTES = 128 * 1024 * 1024

/** The lines of one frame, blank ones too. Our own runner sends 1,000 at most. */
const MAX_FRAME_LINES = 100_000

/** A runner's WebSocket as lines, read no faster than they are dealt with. */
export class DoorSocket {
  readonly caller: Caller
  readonly closed: Promise<string>
  /** All that comes, and after the connection is over what came before. For one reader. */
  readonly lines: LineQueue
  readonly checkAlive: () => void
  readonly #socket: WebSocket
  #first: Deferred<string | undefined> | undefined
  #isOver = false

  constructor({ socket, caller }: DoorSocketOptions) {
    this.caller = caller
    this.#socket = socket
    this.lines = new LineQueue({ onRoom: () => socket.resume() })
    this.checkAlive = alivenessOf(socket)
    socket.on("message", (data: RawData) => this.#receive(frameText(data)))
    // `close` follows, and is where it is dealt with.
    socket.on("error", () => undefined)
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => {
        this.#isOver = true
        this.#first?.resolve(undefined)
        this.lines.end()
        resolve(reason.length > 0 ? reason.toString() : `the connection closed (${code})`)
      })
    })
  }

  get tokenId(): string {
    return this.caller.tokenId
  }

  /** The first line that comes from now on; it is then not among the others. Undefined: the connection is over. */
  first(): Promise<string | undefined> {
    if (this.#isOver) return Promise.resolve(undefined)
    this.#first = deferred()
    return this.#first.promise
  }

  /** Rejects when the connection is over. */
  send(text: string): Promise<void> {
    if (this.#isOver) return Promise.reject(new Error("the connection to the runner is over"))
    if (this.#socket.bufferedAmount > MAX_UNSENT_BYTES) this.#socket.terminate()
    return new Promise((resolve, reject) => {
      this.#socket.send(text, (error) => (error == null ? resolve() : reject(error)))
    })
  }

  /** Resolves when it is over. One that does not answer the goodbye is cut off. */
  async end(code: number, reason: string, timeoutMs = 1_000): Promise<void> {
    this.#socket.close(code, fitCloseReason(reason))
    const timer = setTimeout(() => this.#socket.terminate(), timeoutMs)
    await this.closed
    clearTimeout(timer)
  }

  #receive(text: string): void {
    if (this.#isOver) return
    const lines = linesOf(text)
    if (lines === undefined) return this.#refuse(`a frame has at most ${MAX_FRAME_LINES} lines`)
    if (this.#first !== undefined && lines.length > 0) {
      this.#first.resolve(lines.shift())
      this.#first = undefined
    }
    if (!this.lines.push(lines)) this.#socket.pause()
  }

  /** Nothing more is taken from it. */
  #refuse(reason: string): void {
    this.#isOver = true
    void this.end(TOO_LARGE, reason)
  }
}

/** Undefined: too many. Nothing is made of those. */
function linesOf(text: string): string[] | undefined {
  const lines: string[] = []
  for (let [count, start] = [0, 0]; count < MAX_FRAME_LINES; count++) {
    const end = text.indexOf("\n", start)
    if (end === -1) {
      if (start < text.length) lines.push(text.slice(start))
      return lines
    }
    if (end > start) lines.push(text.slice(start, end))
    start = end + 1
  }
  return undefined
}

/** Past this many numbers after the last event, a sentence is not kept back for its end any more. */
const MAX_KEPT_BACK = 2_000

/**
 * How far a hub has got with the numbered lines of one process: what it took, and what it may acknowledge. It outlives the
 * connection, so that what the runner sends again to the same hub is not taken twice.
 */
export class TakenLines {
  #taken = 0
  /** The last number after which no sentence is under way. */
  #whole = 0
  #durable = 0
  #acknowledged = 0
  #isToldAgain = false

  /** Numbers only go up: one that is not above the last was here before. */
  isNew(number: number): boolean {
    return number > this.#taken
  }

  took(number: number, isWhole: boolean): void {
    this.#taken = Math.max(this.#taken, number)
    if (isWhole) this.#whole = Math.max(this.#whole, number)
  }

  /** A line that was taken and is not durable never will be: it must be taken again. */
  goBack(): void {
    this.#taken = this.#durable
    this.#whole = Math.min(this.#whole, this.#durable)
  }

  /** The runner is here again, and may have missed the last acknowledgement. */
  begin(): void {
    this.#isToldAgain = this.#acknowledged > 0
  }

  /** The number up to which everything must be durable now; undefined when there is nothing to tell. */
  get due(): number | undefined {
    return this.#taken > this.#durable || this.#isToldAgain ? this.#taken : undefined
  }

  /** All up to this number is durable. The number to acknowledge, if there is one. */
  settled(upTo: number, isInSentence: boolean): number | undefined {
    this.#durable = Math.max(this.#durable, upTo)
    if (!isInSentence) this.#whole = Math.max(this.#whole, upTo)
    const mayKeepBack = isInSentence && upTo - this.#whole <= MAX_KEPT_BACK
    const ack = Math.max(this.#acknowledged, mayKeepBack ? Math.min(this.#whole, upTo) : upTo)
    if (ack === this.#acknowledged && !this.#isToldAgain) return undefined
    this.#isToldAgain = false
    this.#acknowledged = ack
    return ack
  }
}

/** A session, and the one in which its process is now. */
interface Holding {
  readonly holder: object
}

/** The lines taken of each process whose end is not known yet. */
export class TakenOfProcesses {
  readonly #most: number
  readonly #known = new Map<string, { readonly lines: TakenLines; readonly by: WeakRef<Holding> }>()

  constructor(most: number) {
    this.#most = most
  }

  /** Another object of the session begins anew: what the one before it took may not have been in the log when it left. */
  of(spawn: string, session: Holding): TakenLines {
    const known = this.#known.get(spawn)
    const by = known?.by.deref()
    const isSame = by !== undefined && (by === session || by.holder === session)
    const taken = known !== undefined && isSame ? known : { lines: new TakenLines(), by: new WeakRef(session) }
    // The latest last: of too many the oldest is forgotten, and what its runner sends again is known by its keys.
    this.#known.delete(spawn)
    this.#known.set(spawn, taken)
    const [oldest] = this.#known.keys()
    if (this.#known.size > this.#most && oldest !== undefined) this.#known.delete(oldest)
    return taken.lines
  }

  forget(spawn: string): void {
    this.#known.delete(spawn)
  }
}
