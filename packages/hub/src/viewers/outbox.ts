/** Where an outbox's frames go: a WebSocket, or a test. */
export interface Sink {
  readonly bufferedAmount: number
  /** `done` is called when the frame has left, or never will. */
  send(frame: string, done: () => void): void
}

export interface OutboxOptions {
  readonly sink: Sink
  /** What waits is more than the bound: whoever owns the outbox drops what can be had again. */
  readonly onOverflow: () => void
  readonly maxWaitingChars?: number
}

export interface Bulk {
  readonly sessionId: string
  readonly text: string
  /** Called when it is handed to the socket: the viewer's cursor. */
  readonly seq?: number
}

const FRAME_CHARS = 256 * 1024
const SOCKET_BYTES = 1024 * 1024
export const DEFAULT_MAX_WAITING_CHARS = 16 * 1024 * 1024

/**
 * What waits to be sent to one viewer. Lines share frames. Control lines (asks, changes, pongs) go ahead of bulk (events,
 * deltas). A viewer that does not read fills its own outbox and nobody else's.
 */
export class Outbox {
  readonly #options: OutboxOptions
  readonly #maxWaitingChars: number
  #control: string[] = []
  #bulk: Bulk[] = []
  #waitingChars = 0
  #isScheduled = false
  #isClosed = false
  readonly #sent = new Map<string, number>()
  #wakers: (() => void)[] = []
  #drainers: (() => void)[] = []

  constructor(options: OutboxOptions) {
    this.#options = options
    this.#maxWaitingChars = options.maxWaitingChars ?? DEFAULT_MAX_WAITING_CHARS
  }

  control(text: string): void {
    this.#control.push(text)
    this.#waitingChars += text.length
    if (this.#waitingChars > this.#maxWaitingChars) this.#options.onOverflow()
    this.#schedule()
  }

  bulk(items: readonly Bulk[]): void {
    for (const item of items) {
      this.#bulk.push(item)
      this.#waitingChars += item.text.length
    }
    if (this.#waitingChars > this.#maxWaitingChars) this.#options.onOverflow()
    this.#schedule()
  }

  /** The last event of a session that was handed to the socket. */
  sentUpTo(sessionId: string): number | undefined {
    return this.#sent.get(sessionId)
  }

  start(sessionId: string, after: number): void {
    this.#sent.set(sessionId, after)
  }

  /** Whether too much waits, also after what can be had again was dropped. */
  get isFull(): boolean {
    return this.#waitingChars > this.#maxWaitingChars
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
    this.#waitingChars = charsOf(this.#control) + charsOf(this.#bulk.map((item) => item.text))
    this.#sent.delete(sessionId)
    if (this.#waitingChars < FRAME_CHARS) this.#wake()
  }

  /** Resolves when little waits: who reads the log for a viewer reads no faster than the viewer does. */
  async room(): Promise<void> {
    if (this.#isClosed || this.#waitingChars < FRAME_CHARS) return
    await new Promise<void>((resolve) => this.#wakers.push(resolve))
  }

  /** Resolves when nothing waits any more: all of it was handed to the socket, or it is over. */
  async drained(): Promise<void> {
    while (!this.#isClosed && this.#waitingChars > 0) {
      await new Promise<void>((resolve) => this.#drainers.push(resolve))
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
    const wakers = this.#wakers
    this.#wakers = []
    for (const wake of wakers) wake()
    if (this.#waitingChars > 0) return
    const drainers = this.#drainers
    this.#drainers = []
    for (const wake of drainers) wake()
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

  #nextFrame(): string | undefined {
    const lines = this.#control
    this.#control = []
    let chars = charsOf(lines)
    this.#waitingChars -= chars
    let taken = 0
    while (taken < this.#bulk.length && chars < FRAME_CHARS) {
      const item = this.#bulk[taken]
      if (item === undefined) break
      lines.push(item.text)
      chars += item.text.length
      this.#waitingChars -= item.text.length
      if (item.seq !== undefined) this.#sent.set(item.sessionId, item.seq)
      taken += 1
    }
    if (taken > 0) this.#bulk = taken === this.#bulk.length ? [] : this.#bulk.slice(taken)
    if (this.#waitingChars < FRAME_CHARS) this.#wake()
    return lines.length === 0 ? undefined : `${lines.join("\n")}\n`
  }
}

function charsOf(texts: readonly string[]): number {
  return texts.reduce((chars, text) => chars + text.length, 0)
}
