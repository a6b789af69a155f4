import type { WebSocket } from "ws"
import type { Clock } from "../clock.ts"

export interface HeartbeatOptions {
  readonly clock: Clock
  readonly pingMs: number
  /** A tick that comes this late means that the machine slept: the socket is taken for dead. */
  readonly suspendGapMs?: number
  /** While we do not read, a pong cannot be seen, and its absence says nothing. */
  readonly isReadingPaused: () => boolean
  readonly onDead: (why: string) => void
}

/**
 * Pings on a timer. A ping that left and was not followed by anything before the next tick means that the peer is gone:
 * TCP alone would notice after a quarter of an hour. Returns what stops it.
 */
export function startHeartbeat(socket: WebSocket, options: HeartbeatOptions): () => void {
  const heartbeat = new Heartbeat(socket, options)
  return () => heartbeat.stop()
}

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
    const { clock, pingMs, suspendGapMs, isReadingPaused } = this.#options
    const gap = clock.now() - this.#lastTickAt
    if (suspendGapMs !== undefined && gap > suspendGapMs) return `the machine slept for ${gap} ms`
    if (isReadingPaused()) this.#ping = "none"
    if (this.#ping === "sent") return `no pong within ${pingMs} ms`
    // The ping stands behind data that the peer is slow to take: it lives as long as that gets less.
    const isStuck = this.#ping === "queued" && this.#socket.bufferedAmount >= this.#waitingBefore
    return isStuck ? `nothing was taken within ${pingMs} ms` : undefined
  }
}
