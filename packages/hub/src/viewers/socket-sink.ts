import type { RawData, WebSocket } from "ws"
import type { HubMetrics } from "../operations/hub-metrics.ts"
import type { Sink } from "./outbox.ts"

/** A WebSocket as an outbox sees it. */
export function socketSink(socket: WebSocket, metrics: Pick<HubMetrics, "bytesSent">): Sink {
  return {
    get bufferedAmount() {
      return socket.bufferedAmount
    },
    send(frame, done) {
      metrics.bytesSent(frame.length)
      // Text, also when it is encoded already.
      socket.send(frame, { binary: false }, () => done())
    },
  }
}

export function frameText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString()
  return data instanceof ArrayBuffer ? Buffer.from(data).toString() : data.toString()
}
