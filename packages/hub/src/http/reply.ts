import type { Page } from "../asks/ask-pages.ts"
import type { EventPage } from "../core.ts"
import { HubError } from "../errors.ts"
import { eventFields } from "../model/event.ts"
import { SLICE_BYTES } from "./reply-room.ts"

const JSON_HEADERS = { "content-type": "application/json" }

/** A reply may wait in the socket's own buffer up to this size: it is neither paced nor counted. */
const SMALL_BYTES = 16 * 1024

export function jsonReply(status: number, value: unknown): Response {
  return textReply(JSON.stringify(value), { status, headers: new Headers(JSON_HEADERS) })
}

/** JSON text that is made while it is read. */
export function streamReply(status: number, pieces: AsyncIterable<string>): Response {
  return new Response(streamOf(bytesOf(pieces)), { status, headers: JSON_HEADERS })
}

/** The page as JSON text, piece by piece: nothing is read from the log before somebody wants it. */
export async function* eventPageJson({ pieces, firstSeq, lastSeq, more }: EventPage): AsyncGenerator<string> {
  let text = '{"events":['
  for await (const events of pieces) {
    yield text + events.map((event) => `{${eventFields(event)}}`).join(",")
    text = ","
  }
  const opening = text === "," ? "" : text
  yield `${opening}],"firstSeq":${firstSeq},"lastSeq":${lastSeq},"more":${more}}`
}

/** Small entries share a piece. */
const PIECE_CHARS = 64 * 1024

/** A list under its name, and whether there is more: no entry is read before somebody wants it. */
export async function* pageJson<T>(
  name: string,
  { entries, more }: Page<T>,
  told: (entry: T) => unknown = (entry) => entry,
): AsyncGenerator<string> {
  let text = `{${JSON.stringify(name)}:[`
  let separator = ""
  for await (const entry of entries) {
    text += separator + JSON.stringify(told(entry))
    separator = ","
    if (text.length < PIECE_CHARS) continue
    yield text
    text = ""
  }
  yield `${text}],"more":${more}}`
}

/** Bytes that many replies share: no reply gets a copy of its own. */
export function bytesReply(bytes: Uint8Array, init: { status?: number; headers: Headers }): Response {
  init.headers.set("content-length", String(bytes.byteLength))
  return new Response(streamOf(slicesOf(bytes)), init)
}

/** Whether a reply is so small that it need not wait for its reader. */
export function isSmall({ body, headers }: Response): boolean {
  if (body === null) return true
  const length = headers.get("content-length")
  return length !== null && Number(length) <= SMALL_BYTES
}

function textReply(text: string, init: { status: number; headers: Headers }): Response {
  init.headers.set("content-length", String(Buffer.byteLength(text)))
  return new Response(text, init)
}

async function* bytesOf(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece)
}

async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}

/** Asks for the next chunk when its reader does, never before. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    { highWaterMark: 0 },
  )
}

export function errorReply(error: HubError): Response {
  const { code, message, status, details } = error
  const headers = new Headers(JSON_HEADERS)
  const { retryAfterSeconds, allow } = details
  if (typeof retryAfterSeconds === "number") headers.set("retry-after", String(retryAfterSeconds))
  if (typeof allow === "string") headers.set("allow", allow)
  if (code === "auth/required") headers.set("www-authenticate", 'Bearer realm="signalbox"')
  // Details come first: none of them can take the place of the error itself.
  return textReply(JSON.stringify({ ...details, error: { code, message } }), { status, headers })
}

/** What went wrong inside stays inside: the caller gets a reference, the log has the rest. */
export function internalError(cause: unknown, reference: string): HubError {
  return new HubError("hub/internal", `The hub failed at this; its log says more under ${reference}`, { cause })
}
