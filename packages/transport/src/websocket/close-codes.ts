import { TransportError } from "../errors.ts"
import type { Closed } from "../transport.ts"

/** How one socket ended. The code is 1006 when no close frame said otherwise. */
export interface LinkEnd extends Closed {
  readonly code: number
}

export function withoutCode(end: LinkEnd): Closed {
  const { code: _, ...closed } = end
  return closed
}

/** The code that `close()` sends: the conversation is over. */
export const NORMAL_CLOSE = 1000
/** The hub is going away or cannot serve it now: the peer comes back. */
export const COME_BACK = 1012
/** Every CLI, and every runner, stays away after this one. */
export const NOT_ALLOWED = 4001
export const TOO_LARGE = 1009
/** No close frame arrived. */
const ABNORMAL_CLOSE = 1006

/** 1005 is a close frame without a code, as `socket.close()` in a browser sends it: an orderly end too. */
const CLEAN_CODES: ReadonlySet<number> = new Set([1000, 1001, 1005])

/** A close frame has 123 bytes for its reason, and a longer one makes `ws` throw. */
const MAX_REASON_BYTES = 123

export function isClean(code: number): boolean {
  return CLEAN_CODES.has(code)
}

export function assertCloseCode(code: number): void {
  const named = code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006
  if (!named && !(code >= 3000 && code <= 4999)) throw new Error(`${code} is not a close code that may be sent`)
}

/** Cuts a reason to what a close frame can carry, never in the middle of a character. */
export function fitCloseReason(reason: string): string {
  const bytes = Buffer.from(reason)
  if (bytes.length <= MAX_REASON_BYTES) return reason
  let end = MAX_REASON_BYTES
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString("utf8", 0, end)
}

/** The meaning of the peer's end. */
export function endByPeer(code: number, text: string): LinkEnd {
  if (isClean(code)) return { by: "peer", code, reason: text === "" ? `closed with code ${code}` : text }
  const reason =
    code === ABNORMAL_CLOSE ? "the connection broke without a close frame" : text || `closed with code ${code}`
  return { by: "peer", code, reason, error: brokenError(reason, { code, reason: text }) }
}

/** The peer sent something that is no WebSocket frame, or too large a one, and `ws` hung up on it. */
export function endByFault(fault: Error & { code?: unknown }, maxPayloadBytes: number): LinkEnd {
  const tooLarge = fault.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH"
  const reason = tooLarge ? `a frame was larger than ${maxPayloadBytes} bytes` : `not a valid frame: ${fault.message}`
  const details = tooLarge ? { code: TOO_LARGE, maxPayloadBytes } : { fault: fault.code }
  return {
    by: "us",
    code: ABNORMAL_CLOSE,
    reason,
    error: new TransportError("transport/broken", reason, { cause: fault, details }),
  }
}

export function endBySilence(reason: string): LinkEnd {
  return { by: "peer", code: ABNORMAL_CLOSE, reason, error: brokenError(reason, { code: ABNORMAL_CLOSE }) }
}

function brokenError(reason: string, details: Readonly<Record<string, unknown>>): TransportError {
  return new TransportError("transport/broken", reason, { details })
}
