import { COME_BACK, fitCloseReason, frameText, TOO_LARGE } from "@signalbox/transport"
import type { RawData, WebSocket } from "ws"
import { alivenessOf } from "../http/door.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import { Outbox, socketSink } from "../viewers/fan-out.ts"
import type { ClientPort } from "./ask-view.ts"

export interface ClientSocketOptions {
  readonly socket: WebSocket
  /** Takes one line. A client that sends faster than this resolves is not read on. */
  readonly onLine: (line: string) => Promise<void>
  readonly onClosed: () => void
  readonly metrics: Pick<HubMetrics, "bytesSent" | "viewerLagged">
}

export const MAX_LINE_BYTES = 16 * 1024 * 1024
const MAX_TAKING = 200
/** How long a client has to read what is left, and to answer our close. */
const CLOSE_MS = 5_000

/** One WebSocket of a client: lines in, lines out, and what waits bounded. */
export class ClientSocket implements ClientPort {
  readonly #options: ClientSocketOptions
  readonly #outbox: Outbox
  readonly #lines = new FrameLines(MAX_LINE_BYTES)
  #taking = 0
  #takingChars = 0
  #isEnding = false
  readonly checkAlive: () => void

  constructor(options: ClientSocketOptions) {
    this.#options = options
    const { socket } = options
    this.#outbox = new Outbox({ sink: socketSink(socket, options.metrics), onOverflow: () => this.#lag() })
    socket.on("message", (data: RawData) => this.#receive(data))
    this.checkAlive = alivenessOf(socket)
    // `close` follows, and is where it is dealt with.
    socket.on("error", () => undefined)
    socket.on("close", () => {
      this.#isEnding = true
      this.#outbox.close()
      options.onClosed()
    })
  }

  event(line: string): void {
    this.#outbox.bulk([{ sessionId: "", text: line }])
  }

  delta(line: string): void {
    this.event(line)
  }

  ask(line: string): void {
    this.event(line)
  }

  tell(line: string): void {
    this.#outbox.control(line)
  }

  /** A frame of another hub's, as it is. */
  pass(frame: string, sent: () => void): void {
    const { socket, metrics } = this.#options
    metrics.bytesSent(frame.length)
    socket.send(frame, sent)
  }

  /** After what waits, but not much later: who does not read is not waited for. */
  end(code: number, reason: string): void {
    if (this.#isEnding) return
    this.#isEnding = true
    void this.#endWhenDrained(code, reason)
  }

  async #endWhenDrained(code: number, reason: string): Promise<void> {
    const timer = setTimeout(() => this.#close(code, reason), CLOSE_MS)
    timer.unref()
    await this.#outbox.drained()
    clearTimeout(timer)
    this.#close(code, reason)
  }

  /** Lines that it missed it can only have again from the start: a new connection is one. */
  #lag(): void {
    if (!this.#isEnding) this.#options.metrics.viewerLagged()
    this.#close(COME_BACK, "too much waits for this client: connect again")
  }

  #close(code: number, reason: string): void {
    this.#isEnding = true
    const { socket } = this.#options
    this.#outbox.close()
    if (socket.readyState !== socket.OPEN) return
    socket.close(code, fitCloseReason(reason))
    const timer = setTimeout(() => socket.terminate(), CLOSE_MS)
    timer.unref()
    socket.once("close", () => clearTimeout(timer))
  }

  #receive(data: RawData): void {
    if (this.#isEnding) return
    const lines = this.#lines.take(data)
    if (lines === undefined) return this.#close(TOO_LARGE, "a line is too long")
    for (const line of lines) void this.#takeLine(line)
  }

  async #takeLine(line: string): Promise<void> {
    this.#taking += 1
    this.#takingChars += line.length
    this.#holdBack()
    try {
      await this.#options.onLine(line)
    } catch {
      // Told to the client already; by this door it cannot be asked to try again.
    } finally {
      this.#taking -= 1
      this.#takingChars -= line.length
      this.#holdBack()
    }
  }

  #holdBack(): void {
    const { socket } = this.#options
    if (this.#taking >= MAX_TAKING || this.#takingChars > MAX_LINE_BYTES) socket.pause()
    else if (socket.isPaused) socket.resume()
  }
}

/** So much is parsed in vain of one line before only its newline ends it: whoever sends crumbs must not keep us busy. */
const MAX_TRIED_CHARS = 32 * 1024 * 1024

/**
 * The lines in what a client sends. Every line should end in a newline, and some clients forget it: a frame that ends in a
 * whole message is one, and a frame that ends in half of one is held until the rest comes.
 */
class FrameLines {
  readonly #maxChars: number
  /** Pieces of the line that is not whole yet. None has a newline: only what is new is searched. */
  #rest: string[] = []
  #restChars = 0
  #triedChars = 0

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  /** Undefined when a line grows past the bound. */
  take(data: RawData): readonly string[] | undefined {
    const pieces = frameText(data).split("\n")
    const last = pieces.pop() ?? ""
    const lines = pieces.map((piece) => this.#complete(piece))
    this.#rest.push(last)
    this.#restChars += last.length
    if (last.trimEnd().endsWith("}") && this.#isWhole()) lines.push(this.#complete(""))
    if (this.#restChars > this.#maxChars) return undefined
    return lines.filter((line) => line.trim() !== "")
  }

  #complete(piece: string): string {
    const line = this.#rest.length === 0 ? piece : `${this.#rest.join("")}${piece}`
    this.#rest = []
    this.#restChars = 0
    this.#triedChars = 0
    return line
  }

  #isWhole(): boolean {
    if (this.#triedChars > MAX_TRIED_CHARS) return false
    this.#triedChars += this.#restChars
    try {
      JSON.parse(this.#rest.join(""))
      return true
    } catch {
      return false
    }
  }
}
