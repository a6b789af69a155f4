import { HubError } from "../errors.ts"

const JSON_HEADERS = { "content-type": "application/json" }

export function jsonReply(status: number, value: unknown): Response {
  return new Response(JSON.stringify(value), { status, headers: JSON_HEADERS })
}

/** For text that is JSON already. */
export function jsonTextReply(status: number, text: string): Response {
  return new Response(text, { status, headers: JSON_HEADERS })
}

export function errorReply(error: HubError): Response {
  const { code, message, status, details } = error
  const headers = new Headers(JSON_HEADERS)
  const { retryAfterSeconds, allow } = details
  if (typeof retryAfterSeconds === "number") headers.set("retry-after", String(retryAfterSeconds))
  if (typeof allow === "string") headers.set("allow", allow)
  if (code === "auth/required") headers.set("www-authenticate", 'Bearer realm="signalbox"')
  // Details come first: none of them can take the place of the error itself.
  return new Response(JSON.stringify({ ...details, error: { code, message } }), { status, headers })
}

/** What went wrong inside stays inside: the caller gets a reference, the log has the rest. */
export function internalError(cause: unknown, reference: string): HubError {
  return new HubError("hub/internal", `The hub failed at this; its log says more under ${reference}`, { cause })
}
