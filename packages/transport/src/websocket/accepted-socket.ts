import type { WebSocket } from "ws"
import { deferred } from "../pacing.ts"
import { assertSendable, type Closed, closedError, type Transport } from "../transport.ts"
import type { UpgradeRequest } from "./accept.ts"
import { assertCloseCode, type LinkEnd, NORMAL_CLOSE, withoutCode } from "./close-codes.ts"
import { Intake } from "./intake.ts"
import { OutgoingLines, type OutgoingSettings } from "./outgoing-lines.ts"
import { type LinkSettings, SocketLink } from "./socket-link.ts"

export type AcceptSettings = LinkSettings & OutgoingSettings

type State =
  | { readonly name: "open" }
  /** We said goodbye; nothing is sent any more. */
  | { readonly name: "closing"; readonly closed: Closed }
  | { readonly name: "over"; readonly closed: Closed }

/** An agent that dialled us. One socket, one connection: when the socket ends, it is over. */
export class AcceptedConnection implements Transport {
  readonly lines: AsyncIterable<string>
  readonly request: UpgradeRequest
  readonly #link: SocketLink
  readonly #intake: Intake
  readonly #outgoing: OutgoingLines
  readonly #closing = deferred<Closed>()
  readonly closed: Promise<Closed> = this.#closing.promise
  #state: State = { name: "open" }

  constructor(socket: WebSocket, request: UpgradeRequest, settings: AcceptSettings) {
    this.request = request
    this.#intake = new Intake(settings.highWaterChars)
    this.lines = this.#intake.lines
    this.#outgoing = new OutgoingLines(settings)
    this.#outgoing.attach(socket)
    this.#link = new SocketLink(socket, settings, {
      onLines: (lines) => void this.#intake.take(lines),
      onKeepAliveDue: () => this.#outgoing.sendKeepAlive(),
      onEnd: (end) => this.#onEnd(end),
    })
    this.#intake.attach(socket)
  }

  async send(line: string): Promise<void> {
    if (this.#state.name !== "open") throw closedError(this.#state.closed)
    assertSendable(line)
    return this.#outgoing.send(line)
  }

  close(reason = "closed"): Promise<void> {
    return this.closeWith(NORMAL_CLOSE, reason)
  }

  /** As `close`, with another close code than 1000. */
  async closeWith(code: number, reason: string): Promise<void> {
    assertCloseCode(code)
    if (this.#state.name === "open") {
      const closed: Closed = { by: "us", reason }
      this.#state = { name: "closing", closed }
      this.#outgoing.finish(closed)
      this.#intake.close()
      this.#link.close(code, reason)
    }
    await this.closed
  }

  /** Adds lines of this agent that came by another road (hybrid POST). False when the connection is over: they were not taken. */
  deliver(lines: readonly string[]): boolean {
    return this.#intake.take(lines)
  }

  /** Resolves when the reader has kept up, or the connection is over. */
  roomToDeliver(): Promise<void> {
    return this.#intake.room()
  }

  #onEnd(end: LinkEnd): void {
    const closed = withoutCode(end)
    this.#state = { name: "over", closed }
    this.#outgoing.finish(closed)
    this.#intake.end()
    this.#closing.resolve(closed)
  }
}
