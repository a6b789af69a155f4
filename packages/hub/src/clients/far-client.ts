import { COME_BACK, frameText, NOT_ALLOWED, TOO_LARGE } from "@signalbox/transport"
import type { RawData, WebSocket } from "ws"
import { alivenessOf } from "../http/door.ts"
import type { ClientSocket } from "./client-socket.ts"
import type { Guest } from "./socket-door.ts"

/** Beyond this the other hub is not read until the client has taken some. */
const MAX_WAITING_CHARS = 1024 * 1024
/** Codes of the other hub's that mean something to the client. Any other end means that it should connect again. */
const TOLD_CODES: ReadonlySet<number> = new Set([1000, TOO_LARGE, COME_BACK, NOT_ALLOWED])

/** A client of a session that another hub has: its lines go there, and that hub's frames come to it, as they are. */
export class FarClient implements Guest {
  readonly checkAlive: () => void
  readonly #far: WebSocket
  readonly #port: ClientSocket
  #waitingChars = 0

  /** `far` was not read until now. */
  constructor(far: WebSocket, port: ClientSocket) {
    this.#far = far
    this.#port = port
    this.checkAlive = alivenessOf(far)
    far.on("message", (data: RawData) => this.#pass(frameText(data)))
    far.on("close", (code, reason) => this.#end(code, reason.toString()))
    far.resume()
    if (far.readyState !== far.OPEN) this.#end()
  }

  /** Resolves when the line is on its way. */
  take(line: string): Promise<void> {
    return new Promise((resolve) => this.#far.send(`${line}\n`, () => resolve()))
  }

  close(): void {
    this.#far.close(1000)
  }

  #pass(frame: string): void {
    this.#waitingChars += frame.length
    if (this.#waitingChars > MAX_WAITING_CHARS) this.#far.pause()
    this.#port.pass(frame, () => {
      this.#waitingChars -= frame.length
      if (this.#waitingChars <= MAX_WAITING_CHARS && this.#far.isPaused) this.#far.resume()
    })
  }

  #end(code = COME_BACK, reason = ""): void {
    if (TOLD_CODES.has(code) && reason !== "") this.#port.end(code, reason)
    else this.#port.end(COME_BACK, "the hub that has the session is away: connect again")
  }
}
