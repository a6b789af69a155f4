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
