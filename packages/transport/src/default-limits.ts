/** What holds where the caller says nothing. */

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
