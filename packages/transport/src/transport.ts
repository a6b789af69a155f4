import { DEFAULT_MAX_LINE_BYTES, type DroppedLine } from "@signalbox/protocol/framing"
import { quietly, TransportError } from "./errors.ts"

/**
 * How lines travel between a host and an agent. The rules every implementation keeps are in docs/spec/transport.md,
 * and `./testing` holds the suite that checks them on each.
 */
export interface Transport {
  /** The peer's lines, in order, without their newline. For one reader; ends, and never throws, when the connection is over. */
  readonly lines: AsyncIterable<string>
  /** Resolves once, when the connection is over, and never rejects. */
  readonly closed: Promise<Closed>
  /** Resolves when the line has been taken and there is room for another; waiting for it is what bounds memory. */
  send(line: string): Promise<void>
  /** Ends the connection. Resolves when it is over; calling it again changes nothing. */
  close(reason?: string): Promise<void>
}

/** Who ended the connection, and why. `error` is there when it was not an orderly end. */
export interface Closed {
  readonly by: "us" | "peer"
  readonly reason: string
  readonly error?: TransportError
}

export interface LineLimits {
  /** A longer line is dropped, alone, and reported. */
  readonly maxLineBytes?: number
  /** Told of every line that was dropped for its length. */
  readonly onDroppedLine?: (dropped: DroppedLine) => void
}

export interface FlowLimits {
  /** Past this many characters unread, the peer is not read on. Where lines gather before they leave, `send` waits past it too. */
  readonly highWaterChars?: number
}

export interface SendLimits {
  /** Past this many bytes waiting, `send` is refused with transport/overflow: somebody does not wait for it. */
  readonly maxWaitingBytes?: number
}

export function settleLineLimits({ maxLineBytes, onDroppedLine }: LineLimits): Required<LineLimits> {
  return { maxLineBytes: maxLineBytes ?? DEFAULT_MAX_LINE_BYTES, onDroppedLine: quietly(onDroppedLine) }
}

/** A blank line ends CLI 2.1.37, and a newline inside a line would make two of it: neither ever leaves. */
export function assertSendable(line: string): void {
  if (line.includes("\n")) {
    throw new TransportError("transport/bad-line", `a line must not contain a newline (${line.length} characters)`)
  }
  if (line.trim() === "") throw new TransportError("transport/bad-line", "a blank line is never sent")
}

export function closedError(closed: Closed): TransportError {
  return new TransportError("transport/closed", `the connection is closed (by ${closed.by}: ${closed.reason})`, {
    cause: closed.error,
  })
}

export function overflowError(waiting: number, bound: number): TransportError {
  const text = `${waiting} bytes wait to be sent, the bound is ${bound}; wait for send before sending more`
  return new TransportError("transport/overflow", text, { details: { waiting, bound } })
}

/** The values that hold where the caller says nothing. */

/** Lines wait for the reader, or to be sent, up to here before the other side is made to wait. */
export const DEFAULT_HIGH_WATER_CHARS = 1024 * 1024
/** Bound on lines that wait to be sent although their sender was asked to wait. */
export const DEFAULT_MAX_WAITING_BYTES = 64 * 1024 * 1024
/** Bound on what a peer may send in one piece: a WebSocket frame, the body of a POST. */
export const DEFAULT_MAX_PAYLOAD_BYTES = 64 * 1024 * 1024
/** Bound on the messages that are remembered to be sent again. */
export const DEFAULT_RING_BYTES = 64 * 1024 * 1024
/** A goodbye is waited for as long as this. */
export const DEFAULT_CLOSE_TIMEOUT_MS = 3_000
