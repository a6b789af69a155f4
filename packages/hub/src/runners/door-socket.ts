import { frameText } from "@signalbox/transport"
import type { RawData, WebSocket } from "ws"
import type { Caller } from "../model/access.ts"

export interface DoorSocketOptions {
  readonly socket: WebSocket
  readonly caller: Caller
}

/** Past this much unread, the runner is not read on. */
const HIGH_WATER_CHARS = 8 * 1024 * 1024
/** Past this much unsent, the other end does not read, and is not there. */
const MAX_UNSENT_BYTES = 128 * 1024 * 1024

/** A runner's WebSocket as batches of texts, read no faster than they are dealt with. */
export class DoorSocket {
  readonly caller: Caller
  readonly closed: Promise<string>
  readonly #socket: WebSocket
  #waiting: string[] = []
  #chars = 0
  #isAlive = true
  #isOver = false
  #wake: () => void = () => undefined

  constructor({ socket, caller }: DoorSocketOptions) {
    this.caller = caller
    this.#socket = socket
    socket.on("message", (data: RawData) => this.#receive(frameText(data)))
    socket.on("pong", () => {
      this.#isAlive = true
    })
    // `close` follows, and is where it is dealt with.
    socket.on("error", () => undefined)
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => {
        this.#isOver = true
        this.#wake()
        resolve(reason.length > 0 ? reason.toString() : `the connection closed (${code})`)
      })
    })
  }

  get tokenId(): string {
    return this.caller.tokenId
  }

  /** All that came, until the connection is over. For one reader. */
  async *batches(): AsyncGenerator<readonly string[], void> {
    for (;;) {
      const batch = this.#waiting
      this.#waiting = []
      this.#chars = 0
      if (this.#socket.isPaused) this.#socket.resume()
      if (batch.length > 0) yield batch
      else if (this.#isOver) return
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
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
    this.#socket.close(code, reason.slice(0, 120))
    const timer = setTimeout(() => this.#socket.terminate(), timeoutMs)
    await this.closed
    clearTimeout(timer)
  }

  /** One that did not answer the last ping is gone without having said so; one that is not read cannot answer. */
  checkAlive(): void {
    if (!this.#isAlive && !this.#socket.isPaused) return this.#socket.terminate()
    this.#isAlive = false
    this.#socket.ping()
  }

  #receive(text: string): void {
    this.#isAlive = true
    for (const line of text.split("\n")) if (line !== "") this.#waiting.push(line)
    this.#chars += text.length
    if (this.#chars > HIGH_WATER_CHARS) this.#socket.pause()
    this.#wake()
  }
}
