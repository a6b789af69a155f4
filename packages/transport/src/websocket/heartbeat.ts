import type { WebSocket } from "ws"
import type { Clock } from "./clock.ts"

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
  const { clock, pingMs } = options
  let beat: "none" | "queued" | "sent" = "none"
  let waitingBefore = 0
  let lastTickAt = clock.now()
  let cancel = clock.after(pingMs, tick, "idle")

  function alive(): void {
    beat = "none"
  }

  function tick(): void {
    const why = reasonToDoubt()
    lastTickAt = clock.now()
    if (why !== undefined) {
      options.onDead(why)
      return
    }
    if (beat === "none" && socket.readyState === socket.OPEN) {
      beat = "queued"
      socket.ping(undefined, undefined, () => {
        if (beat === "queued") beat = "sent"
      })
    }
    waitingBefore = socket.bufferedAmount
    cancel = clock.after(pingMs, tick, "idle")
  }

  function reasonToDoubt(): string | undefined {
    const gap = clock.now() - lastTickAt
    if (options.suspendGapMs !== undefined && gap > options.suspendGapMs) return `the machine slept for ${gap} ms`
    if (options.isReadingPaused()) {
      beat = "none"
      return undefined
    }
    if (beat === "sent") return `no pong within ${pingMs} ms`
    // The ping stands behind data that the peer is slow to take: it lives as long as that gets less.
    if (beat === "queued" && socket.bufferedAmount >= waitingBefore) return `nothing was taken within ${pingMs} ms`
    return undefined
  }

  socket.on("pong", alive)
  socket.on("ping", alive)
  socket.on("message", alive)
  return () => {
    cancel()
    socket.off("pong", alive)
    socket.off("ping", alive)
    socket.off("message", alive)
  }
}
