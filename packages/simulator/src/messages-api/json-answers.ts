import type { ServerResponse } from "node:http"

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
}

export function errorTypeOf(status: number): string {
  return TYPES[status] ?? (status < 500 ? "invalid_request_error" : "api_error")
}

export function statusOf(type: string): number {
  const found = Object.entries(TYPES).find(([, name]) => name === type)
  return found === undefined ? 500 : Number(found[0])
}

export function errorBody(type: string, message: string, requestId: string) {
  return { type: "error", error: { type, message }, request_id: requestId }
}

export function sendError(
  response: ServerResponse,
  error: { status: number; type?: string; message: string; requestId: string; headers?: Record<string, string> },
): void {
  const type = error.type ?? errorTypeOf(error.status)
  const body = errorBody(type, error.message, error.requestId)
  sendJson(response, error.status, body, { "request-id": error.requestId, ...error.headers })
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(JSON.stringify(body))
}
