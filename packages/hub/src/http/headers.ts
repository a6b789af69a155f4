import type { Exposure } from "../auth/exposure.ts"

/** Nothing of a reply that is data may ever run, be framed or be read as something else. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

/** A page of ours: its own files, its own hub, nothing inline and nothing from elsewhere. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ")

export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": DATA_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
  "cache-control": "no-store",
}

/** What a reply says itself (a page's own policy, how long a file may be cached) stands. */
export function addSecurityHeaders(headers: Headers, exposure: Exposure): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!headers.has(name)) headers.set(name, value)
  if (exposure.publicUrl?.protocol === "https:") headers.set("strict-transport-security", "max-age=31536000")
}

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"

export function addCorsHeaders(headers: Headers, origin: string): void {
  headers.set("access-control-allow-origin", origin)
  headers.set("access-control-allow-credentials", "true")
  headers.set("access-control-expose-headers", "Retry-After, Allow")
  headers.append("vary", "Origin")
}

export function isPreflight(request: Request): boolean {
  return request.method === "OPTIONS" && request.headers.has("access-control-request-method")
}

/** A preflight bears no credential and reads nothing, so it is answered before anybody is asked who they are. */
export function preflightReply(request: Request): Response {
  const headers = new Headers({
    "access-control-allow-methods": METHODS,
    "access-control-allow-headers": "Authorization, Content-Type, Last-Event-ID",
    "access-control-max-age": "600",
  })
  if (request.headers.has("access-control-request-private-network")) {
    headers.set("access-control-allow-private-network", "true")
  }
  return new Response(null, { status: 204, headers })
}
