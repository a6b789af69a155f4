import type { WebSocket } from "ws"
import { LineQueue } from "../line-queue.ts"
import { assertSendable, type Closed, closedError, type LineLimits, type Transport } from "../transport.ts"
import type { Clock } from "./clock.ts"
import { assertCloseCode, type LinkEnd, NORMAL_CLOSE } from "./close-codes.ts"
import { type OutgoingLimits, OutgoingLines } from "./outgoing-lines.ts"
import { KEEP_ALIVE_LINE, SocketLink } from "./socket-link.ts"
import type { UpgradeRequest } from "./upgrade-request.ts"

/** An agent that dialled us. */
export interface AcceptedConnection extends Transport {
  readonly request: UpgradeRequest
  /** As `close`, with another close code than 1000. */
  closeWith(code: number, reason: string): Promise<void>
  /** Adds lines of this agent that came by another road (hybrid POST). False when the connection is over: they were not taken. */
  deliver(lines: readonly string[]): boolean
  /** Resolves when the reader has kept up, or the connection is over. */
  roomToDeliver(): Promise<void>
}

export type AcceptSettings = LineLimits &
  OutgoingLimits & {
    readonly clock: Clock
    readonly maxPayloadBytes: number
    readonly pingMs: number | undefined
    readonly keepAliveMs: number | undefined
    readonly closeTimeoutMs: number
  }

/** One socket, one connection: when the socket ends, it is over. */
export class AcceptedSocket implements AcceptedConnection {
  readonly lines: LineQueue
  readonly closed: Promise<Closed>
  readonly request: UpgradeRequest
  readonly #link: SocketLink
  readonly #outgoing: OutgoingLines
  #settle: (closed: Closed) => void = () => undefined
  /** Set as soon as the end has begun: from then on nothing is sent. */
  #ending: Closed | undefined
  #over = false
  #full = false
  #roomWaiters: (() => void)[] = []

  constructor(socket: WebSocket, request: UpgradeRequest, settings: AcceptSettings) {
    this.request = request
    this.lines = new LineQueue({ onRoom: () => this.#onRoom() })
    this.closed = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#outgoing = new OutgoingLines(settings)
    this.#outgoing.attach(socket)
    this.#link = new SocketLink(socket, settings, {
      onLines: (lines) => this.#onLines(lines),
      onKeepAliveDue: () => void this.#outgoing.send(KEEP_ALIVE_LINE).catch(ignoreRefusal),
      onEnd: (end) => this.#onEnd(end),
    })
  }

  async send(line: string): Promise<void> {
    if (this.#ending !== undefined) throw closedError(this.#ending)
    assertSendable(line)
    return this.#outgoing.send(line)
  }

  close(reason = "closed"): Promise<void> {
    return this.closeWith(NORMAL_CLOSE, reason)
  }

  async closeWith(code: number, reason: string): Promise<void> {
    assertCloseCode(code)
    if (this.#ending === undefined) {
      this.#ending = { by: "us", reason }
      this.#outgoing.finish(this.#ending)
      // What the peer wrote before it saw our goodbye is still read, unless nobody does: then it must not hold up the end.
      if (this.#full) this.lines.end()
      this.#link.close(code, reason)
    }
    await this.closed
  }

  deliver(lines: readonly string[]): boolean {
    if (this.#over) return false
    this.#onLines(lines)
    return true
  }

  async roomToDeliver(): Promise<void> {
    if (this.#full && !this.#over) await new Promise<void>((resolve) => this.#roomWaiters.push(resolve))
  }

  #onLines(lines: readonly string[]): void {
    if (this.lines.push(lines)) return
    this.#full = true
    if (this.#ending === undefined) this.#link.pause()
    else this.lines.end()
  }

  #onRoom(): void {
    this.#full = false
    this.#link.resume()
    for (const resolve of this.#roomWaiters.splice(0)) resolve()
  }

  #onEnd(end: LinkEnd): void {
    const { code: _, ...closed } = end
    this.#over = true
    this.#ending = closed
    this.#outgoing.finish(closed)
    this.lines.end()
    for (const resolve of this.#roomWaiters.splice(0)) resolve()
    this.#settle(closed)
  }
}

/** A `keep_alive` that found no room is no loss: what fills the room keeps the connection alive as well. */
function ignoreRefusal(): void {}
