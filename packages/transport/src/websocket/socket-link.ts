import { createLineSplitter, type LineSplitter } from "@signalbox/protocol"
import { type RawData, WebSocket } from "ws"
import { frameBytes } from "../frames.ts"
import type { Clock } from "../pacing.ts"
import type { LineLimits } from "../transport.ts"
import { endByFault, endByPeer, endBySilence, fitCloseReason, isClean, type LinkEnd } from "./close-codes.ts"

export interface LinkSettings extends Required<LineLimits> {
  readonly clock: Clock
  /** 0: no pings. */
  readonly pingMs: number
  readonly suspendGapMs?: number
  /** 0: no `keep_alive` lines. */
  readonly keepAliveMs: number
  readonly closeTimeoutMs: number
  readonly maxPayloadBytes: number
}

export interface LinkOwner {
  onLines(lines: string[]): void
  onKeepAliveDue(): void
  /** Once, and the last call. */
  onEnd(end: LinkEnd): void
}

type Phase =
  | { readonly name: "open" }
  /** We said goodbye and wait, for a bounded time, for the answer. */
  | { readonly name: "closing"; readonly end: LinkEnd }
  | { readonly name: "dead"; readonly why: string }
  | { readonly name: "ended" }

/** The part of one open socket that is the same whoever dialled: bytes in, pings, and one clear end. */
export class SocketLink {
  readonly #socket: WebSocket
  readonly #settings: LinkSettings
  readonly #owner: LinkOwner
  readonly #splitter: LineSplitter
  readonly #timers: (() => void)[] = []
  #phase: Phase = { name: "open" }
  #fault: Error | undefined
  #keepAlive: () => void = () => undefined

  constructor(socket: WebSocket, settings: LinkSettings, owner: LinkOwner) {
    this.#socket = socket
    this.#settings = settings
    this.#owner = owner
    const { maxLineBytes, onDroppedLine } = settings
    this.#splitter = createLineSplitter({ maxLineBytes, onDropped: onDroppedLine })
    socket.on("message", (data) => this.#read(data))
    socket.on("error", (error) => {
      this.#fault ??= error
    })
    socket.on("close", (code, reason) => this.#ended(code, reason.toString()))
    this.#startTimers()
  }

  /** Begins our goodbye. A peer that does not answer it is cut off. */
  close(code: number, reason: string): void {
    // Already closing means that the peer was first, or that the socket is broken: that is then the end that counts.
    if (this.#phase.name !== "open" || this.#socket.readyState !== WebSocket.OPEN) return
    this.#phase = { name: "closing", end: { by: "us", code, reason } }
    this.#stopTimers()
    // A paused socket would never show the peer's answer.
    this.#socket.resume()
    this.#socket.close(code, fitCloseReason(reason))
    this.#timers.push(this.#settings.clock.after(this.#settings.closeTimeoutMs, () => this.#socket.terminate()))
  }

  drop(): void {
    this.#socket.terminate()
  }

  #startTimers(): void {
    const { clock, pingMs, suspendGapMs, keepAliveMs } = this.#settings
    if (pingMs !== 0) {
      const onDead = (why: string) => this.#giveUp(why)
      const heartbeat = new Heartbeat(this.#socket, { clock, pingMs, suspendGapMs, onDead })
      this.#timers.push(() => heartbeat.stop())
    }
    if (keepAliveMs === 0) return
    const again = () => {
      this.#keepAlive = clock.after(keepAliveMs, again, "idle")
      this.#owner.onKeepAliveDue()
    }
    this.#keepAlive = clock.after(keepAliveMs, again, "idle")
    this.#timers.push(() => this.#keepAlive())
  }

  #stopTimers(): void {
    for (const stop of this.#timers.splice(0)) stop()
  }

  #read(data: RawData): void {
    const lines = this.#splitter.pushFrame(frameBytes(data))
    if (lines.length > 0) this.#owner.onLines(lines)
  }

  #giveUp(why: string): void {
    if (this.#phase.name !== "open") return
    this.#phase = { name: "dead", why }
    this.#socket.terminate()
  }

  #ended(code: number, reason: string): void {
    if (this.#phase.name === "ended") return
    const end = this.#describeEnd(code, reason)
    this.#phase = { name: "ended" }
    this.#stopTimers()
    // A line that a broken connection leaves half said is not a line; the last of an orderly one is.
    const rest = isClean(code) ? this.#splitter.end() : []
    if (rest.length > 0) this.#owner.onLines(rest)
    this.#owner.onEnd(end)
  }

  #describeEnd(code: number, reason: string): LinkEnd {
    if (this.#phase.name === "closing") return this.#phase.end
    if (this.#phase.name === "dead") return endBySilence(this.#phase.why)
    if (this.#fault !== undefined) return endByFault(this.#fault, this.#settings.maxPayloadBytes)
    return endByPeer(code, reason)
  }
}

interface HeartbeatOptions {
  readonly clock: Clock
  readonly pingMs: number
  /** A tick that comes this late means that the machine slept: the socket is taken for dead. */
  readonly suspendGapMs: number | undefined
  readonly onDead: (why: string) => void
}

/**
 * Pings on a timer. A ping that left and was not followed by anything before the next tick means that the peer is gone:
 * TCP alone would notice after a quarter of an hour.
 */
class Heartbeat {
  readonly #socket: WebSocket
  readonly #options: HeartbeatOptions
  #ping: "none" | "queued" | "sent" = "none"
  #waitingBefore = 0
  #lastTickAt: number
  #cancel: () => void

  constructor(socket: WebSocket, options: HeartbeatOptions) {
    this.#socket = socket
    this.#options = options
    this.#lastTickAt = options.clock.now()
    this.#cancel = options.clock.after(options.pingMs, () => this.#tick(), "idle")
    for (const sign of ["pong", "ping", "message"]) socket.on(sign, this.#onSign)
  }

  stop(): void {
    this.#cancel()
    for (const sign of ["pong", "ping", "message"]) this.#socket.off(sign, this.#onSign)
  }

  readonly #onSign = (): void => {
    this.#ping = "none"
  }

  #tick(): void {
    const { clock, pingMs, onDead } = this.#options
    const why = this.#reasonToDoubt()
    if (why !== undefined) return onDead(why)
    this.#lastTickAt = clock.now()
    if (this.#ping === "none" && this.#socket.readyState === this.#socket.OPEN) {
      this.#ping = "queued"
      this.#socket.ping(undefined, undefined, () => {
        if (this.#ping === "queued") this.#ping = "sent"
      })
    }
    this.#waitingBefore = this.#socket.bufferedAmount
    this.#cancel = clock.after(pingMs, () => this.#tick(), "idle")
  }

  #reasonToDoubt(): string | undefined {
    const { clock, pingMs, suspendGapMs } = this.#options
    const gap = clock.now() - this.#lastTickAt
    if (suspendGapMs !== undefined && gap > suspendGapMs) return `the machine slept for ${gap} ms`
    // While we do not read, a pong cannot be seen, and its absence says nothing.
    if (this.#socket.isPaused) this.#ping = "none"
    if (this.#ping === "sent") return `no pong within ${pingMs} ms`
    // The ping stands behind data that the peer is slow to take: it lives as long as that gets less.
    const isStuck = this.#ping === "queued" && this.#socket.bufferedAmount >= this.#waitingBefore
    return isStuck ? `nothing was taken within ${pingMs} ms` : undefined
  }
}
