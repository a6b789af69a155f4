import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"

/** What an agent says of itself when it connects. */
export interface UpgradeRequest {
  readonly path: string
  readonly query: URLSearchParams
  /** From `Authorization: Bearer …`. */
  readonly token: string | undefined
  /** From `X-Environment-Runner-Version`. */
  readonly environmentRunnerVersion: string | undefined
  /** From `X-Last-Request-Id`: the agent was connected before, and this is the last message it wrote, delivered or not. */
  readonly lastRequestId: string | undefined
  readonly remoteAddress: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** Undefined when the target is no path at all. */
export function readUpgradeRequest(request: IncomingMessage): UpgradeRequest | undefined {
  const target = readTarget(request.url)
  if (target === undefined) return undefined
  return {
    path: target.pathname,
    query: target.searchParams,
    token: readBearer(request.headers.authorization),
    environmentRunnerVersion: readHeader(request.headers, "x-environment-runner-version"),
    lastRequestId: readHeader(request.headers, "x-last-request-id"),
    remoteAddress: request.socket.remoteAddress,
    headers: request.headers,
  }
}

/** Only origin-form targets: `//host/…` would otherwise be read as another host's URL. */
export function readTarget(url: string | undefined): URL | undefined {
  if (url === undefined || !url.startsWith("/")) return undefined
  try {
    return new URL(`http://localhost${url}`)
  } catch {
    return undefined
  }
}

export function readBearer(authorization: string | undefined): string | undefined {
  const token = authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(authorization)?.[1]
  return token
}

/** Compares in a time that says nothing about how much of the token was right, or how long it is. */
export function isSameToken(given: string | undefined, expected: string | undefined): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest()
  const same = timingSafeEqual(digest(given ?? ""), digest(expected ?? ""))
  return same && given !== undefined && expected !== undefined
}

function readHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name]
  const first = Array.isArray(value) ? value[0] : value
  return first === undefined || first === "" ? undefined : first
}
