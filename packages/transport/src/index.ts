export { TransportError, type TransportErrorCode } from "./errors.ts"
export { createLinkedPair } from "./pair.ts"
export type { Closed, LineLimits, Transport } from "./transport.ts"
