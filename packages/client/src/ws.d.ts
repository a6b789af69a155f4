/**
 * As much of `ws` as is used. Its own types bring all of Node's with them, and then touching Node anywhere in this room
 * would no longer be a compile error.
 */
declare module "ws" {
  export interface ClientOptions {
    readonly headers?: Readonly<Record<string, string>>
    readonly maxPayload?: number
    readonly perMessageDeflate?: boolean
    readonly handshakeTimeout?: number
    readonly closeTimeout?: number
  }

  export class WebSocket {
    constructor(url: string, options: ClientOptions)
    addEventListener(type: "open" | "error", listener: () => void): void
    addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void
    addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void
    send(text: string): void
    close(code: number, reason: string): void
    terminate(): void
  }
}
