import type { Transport } from "@signalbox/transport"
import type { RecordedLine } from "./recording.ts"

export interface RecordOptions {
  /** Told of every line, in the order of the wire. */
  readonly onLine: (line: RecordedLine) => void
  /** Whose end of the connection this is: what comes in was said by the other. Left out: the host's. */
  readonly end?: "host" | "agent"
  /** Milliseconds, from any beginning. */
  readonly now?: () => number
}

/**
 * The same transport, with everything that passes told to `onLine`: both directions, with times. It keeps nothing, and
 * waits for nothing: what comes of the lines is the caller's business.
 */
export function recordTransport(transport: Transport, options: RecordOptions): Transport {
  const { onLine, end = "host", now = () => performance.now() } = options
  const startedAt = now()
  const peer = end === "host" ? "agent" : "host"
  const tell = (from: "host" | "agent", line: string) => onLine({ at: Math.round(now() - startedAt), from, line })
  return {
    lines: {
      async *[Symbol.asyncIterator]() {
        for await (const line of transport.lines) {
          tell(peer, line)
          yield line
        }
      },
    },
    closed: transport.closed,
    send(line) {
      // Before it is sent: an answer must not stand before its question.
      tell(end, line)
      return transport.send(line)
    },
    close: (reason) => transport.close(reason),
  }
}
