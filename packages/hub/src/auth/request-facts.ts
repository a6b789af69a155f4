import type { IncomingMessage } from "node:http"

/** What is decided on before anything else is read: the same for HTTP and for the upgrade to a WebSocket. */
export interface RequestFacts {
  /** By lower-case name. Undefined also for a header that may stand once and stands twice. */
  header(name: string): string | undefined
  headerNames(): Iterable<string>
  /** The address at the other end of the socket. */
  readonly peer: string | undefined
}

/** Node keeps the first of these and drops the rest in silence; two of them are somebody's trick. */
const ONCE = new Set(["host", "origin", "authorization"])

export function factsOfMessage(message: IncomingMessage): RequestFacts {
  const distinct = message.headersDistinct
  return {
    header(name) {
      const values = distinct[name]
      if (values === undefined || (ONCE.has(name) && values.length > 1)) return undefined
      if (name === "cookie") return values.join("; ")
      return name === "x-forwarded-for" ? values.join(", ") : values[0]
    },
    headerNames: () => Object.keys(distinct),
    peer: message.socket.remoteAddress,
  }
}

export function factsOfRequest(request: Request, peer: string | undefined): RequestFacts {
  return {
    header: (name) => request.headers.get(name) ?? undefined,
    headerNames: () => request.headers.keys(),
    peer,
  }
}
