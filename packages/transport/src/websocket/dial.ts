import type { WebSocket } from "ws"
import { deferred } from "../pacing.ts"
import { assertSendable, type Closed, closedError, type Transport } from "../transport.ts"
import { type LinkEnd, NORMAL_CLOSE, withoutCode } from "./close-codes.ts"
import { startDial } from "./dial-attempt.ts"
import { type DialOptions, type DialSettings, dialHeaders, settleDialOptions } from "./dial-options.ts"
import { type DialFailure, type DialInput, type DialState, stepDial } from "./dial-state.ts"
import { Intake } from "./intake.ts"
import { MessageRing, OutgoingLines } from "./outgoing-lines.ts"
import { SocketLink } from "./socket-link.ts"

/** A connection that we dialled, and dial again when it breaks. */
export interface DialledConnection extends Transport {
  readonly state: DialState
  /** Cuts the socket without a word, as a network does. It is dialled again as the preset says. */
  drop(): void
}

/** Begins to dial. Throws only for a URL that can never work; everything else is told by `state` and `closed`. */
export function dialWebSocket(options: DialOptions): DialledConnection {
  return new Dialler(options)
}

class Dialler implements DialledConnection {
  readonly lines: AsyncIterable<string>
  readonly #options: DialOptions
  readonly #settings: DialSettings
  readonly #ring: MessageRing
  readonly #intake: Intake
  readonly #outgoing: OutgoingLines
  readonly #closing = deferred<Closed>()
  readonly closed: Promise<Closed> = this.#closing.promise
  #state: DialState = { phase: "idle" }
  #link: SocketLink | undefined
  /** Cancels the dial or the timer that the state is waiting for. */
  #cancel: () => void = () => undefined

  constructor(options: DialOptions) {
    this.#options = options
    this.#settings = settleDialOptions(options)
    this.#ring = new MessageRing(options.ring)
    this.#outgoing = new OutgoingLines(this.#settings, (line) => this.#onWritten(line))
    this.#intake = new Intake(this.#settings.highWaterChars)
    this.lines = this.#intake.lines
    this.#move({ type: "dial" })
  }

  get state(): DialState {
    return this.#state
  }

  async send(line: string): Promise<void> {
    if (this.#state.phase === "closing" || this.#state.phase === "closed") throw closedError(this.#state.closed)
    assertSendable(line)
    if (this.#settings.preset.offline === "keep") return this.#outgoing.send(line)
    // The real CLIs remember a message when it is written, connected or not, and forget what has no uuid.
    this.#ring.push(line)
    if (this.#state.phase === "connected") await this.#outgoing.send(line)
  }

  drop(): void {
    this.#link?.drop()
  }

  async close(reason = "closed"): Promise<void> {
    this.#move({ type: "close", closed: { by: "us", reason } })
    await this.closed
  }

  #move(input: DialInput): void {
    const before = this.#state
    this.#state = stepDial(this.#settings.preset, before, input)
    if (this.#state === before) return
    const moved = this.#state
    this.#enter(moved)
    this.#settings.onState(moved)
  }

  #enter(state: DialState): void {
    switch (state.phase) {
      case "idle":
      case "connected":
        return
      case "connecting":
        return this.#dial()
      case "reconnecting":
        this.#cancel = this.#settings.clock.after(state.delayMs, () => this.#move({ type: "dial" }))
        return
      case "closing":
        this.#outgoing.finish(state.closed)
        this.#intake.close()
        this.#link?.close(NORMAL_CLOSE, state.closed.reason)
        return
      case "closed":
        this.#cancel()
        this.#outgoing.finish(state.closed)
        this.#intake.end()
        this.#closing.resolve(state.closed)
        return
    }
  }

  #dial(): void {
    const headers = () => dialHeaders(this.#options, this.#ring.lastUuid)
    this.#cancel = startDial(this.#settings, headers, {
      onOpen: (socket, lastRequestId) => this.#opened(socket, lastRequestId),
      onFailure: (failure) => this.#failed(failure),
    })
  }

  #opened(socket: WebSocket, lastRequestId: string | undefined): void {
    this.#cancel = () => undefined
    this.#link = new SocketLink(
      socket,
      { ...this.#settings, ...this.#settings.preset },
      {
        onLines: (lines) => void this.#intake.take(lines),
        onKeepAliveDue: () => this.#outgoing.sendKeepAlive(),
        onEnd: (end) => this.#onEnd(end),
      },
    )
    this.#intake.attach(socket)
    this.#outgoing.attach(socket, this.#toReplay(lastRequestId))
    this.#move({ type: "opened" })
  }

  #toReplay(lastRequestId: string | undefined): string[] {
    switch (this.#settings.preset.replay) {
      case "none":
        return []
      case "whole-ring":
        return this.#ring.all()
      case "after-last-request-id":
        return this.#ring.after(lastRequestId)
    }
  }

  #onWritten(line: string): void {
    const { offline, reconnect } = this.#settings.preset
    if (offline === "keep" && reconnect !== "never") this.#ring.push(line)
  }

  #onEnd(end: LinkEnd): void {
    this.#link = undefined
    if (this.#state.phase === "closing") return this.#move({ type: "ended", closed: withoutCode(end) })
    this.#outgoing.detach(this.#settings.preset.offline)
    this.#failed({ kind: "lost", end })
  }

  #failed(failure: DialFailure): void {
    this.#move({ type: "failed", failure, at: this.#settings.clock.now(), roll: this.#settings.random() })
  }
}
