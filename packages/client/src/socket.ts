/** Both kinds of WebSocket, as the rest of this room sees them. */
export interface Socket {
  /** Does nothing once the connection is over. */
  send(text: string): void
  /** Says goodbye. */
  close(code: number, reason: string): void
  /** Does not wait for an answer to it. */
  abandon(): void
}

export interface SocketEvents {
  onOpen(): void
  onText(text: string): void
  /** Once, whether it was ever open or not. */
  onClose(code: number, reason: string): void
}

export const NORMAL_CLOSE = 1000
/** Not allowed, or ended for good: coming back is of no use. */
export const REFUSED_CLOSE = 4001
