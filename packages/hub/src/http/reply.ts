import { setImmediate as nextTurn } from "node:timers/promises"
import type { Page } from "../asks/whole-ask.ts"
import { HubError } from "../errors.ts"
import type { EventPage, StoredEvent } from "../model/event.ts"

const JSON_HEADERS = { "content-type": "application/json" }

/** A reply may wait in the socket's own buffer up to this size: it is neither paced nor counted. */
const SMALL_BYTES = 16 * 1024

export function jsonReply(status: number, value: unknown): Response {
  return textReply(JSON.stringify(value), { status, headers: new Headers(JSON_HEADERS) })
}

/** JSON text that is made while it is read. */
export function streamReply(status: number, pieces: AsyncIterable<string>, contentType?: string): Response {
  const headers = contentType === undefined ? JSON_HEADERS : { "content-type": contentType }
  return new Response(streamOf(bytesOf(pieces)), { status, headers })
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

/** Events come many in a millisecond, and to write out a time costs more than all the rest of their fields. */
let lastTime = { at: Number.NaN, text: "" }

function timeText(at: number): string {
  if (at !== lastTime.at) lastTime = { at, text: new Date(at).toISOString() }
  return lastTime.text
}

/** An event's fields as JSON text: the line is put in as it was received. It is JSON already, and re-encoding could change it. */
function eventFields(event: StoredEvent): string {
  return `${eventHead(event)}"message":${event.line.trim()}`
}

/** All of them but the message. */
export function eventHead({ seq, at, from, by }: StoredEvent): string {
  const who = by === undefined ? "" : `"by":${JSON.stringify(by)},`
  return `"seq":${seq},"at":"${timeText(at)}","from":"${from}",${who}`
}

/** Small entries share a piece. */
const PIECE_CHARS = 64 * 1024

interface Listed<T> {
  readonly entries: Iterable<T> | Page<T>["entries"]
  readonly more?: boolean
}

/** A list under its name, and whether there is more: no entry is read before somebody wants it. */
export async function* pageJson<T>(
  name: string,
  { entries, more }: Listed<T>,
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
  yield `${text}]${more === undefined ? "" : `,"more":${more}`}}`
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

/** Asks for the next chunk when its reader does, never before, and not in the same turn: a fast reader of much is not alone. */
function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  let isFirst = true
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isFirst) await nextTurn()
        isFirst = false
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

/** Nothing of a reply that is data may ever run, be framed or be read as something else. */
const DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

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

export interface ReplyRoomLimits {
  /** Bytes of replies that wait for their readers, of everybody together. */
  readonly maxBytes: number
  /** The same for one token. A single reply may be larger, if the token holds nothing else. */
  readonly maxBytesPerToken: number
  /** A token that holds no more than this is served even when the others have filled the room. */
  readonly alwaysBytes: number
}

const DEFAULT_LIMITS: ReplyRoomLimits = {
  maxBytes: 128 * 1024 * 1024,
  maxBytesPerToken: 32 * 1024 * 1024,
  alwaysBytes: 1024 * 1024,
}

/** Counts the bytes that the hub holds for readers of its replies: in all, and for each token. */
export class ReplyRoom {
  readonly #limits: ReplyRoomLimits
  readonly #heldByToken = new Map<string, number>()
  #heldBytes = 0
  #waiting: (() => void)[] = []

  constructor(limits: Partial<ReplyRoomLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** `token`: its id. Everybody without a token shares "". */
  open(token: string): ReplyShare {
    return new ReplyShare((had, bytes) => this.#hold(token, had, bytes))
  }

  /** Resolves when somebody holds less than before. */
  freed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Refuses a token that is at its bound, before anything is read for it. */
  check(token: string): void {
    if ((this.#heldByToken.get(token) ?? 0) >= this.#limits.maxBytesPerToken) throw busy()
  }

  #hold(token: string, had: number, bytes: number): boolean {
    const { maxBytes, maxBytesPerToken, alwaysBytes } = this.#limits
    const ofToken = (this.#heldByToken.get(token) ?? 0) - had
    const ofAll = this.#heldBytes - had
    const mayGrow =
      (ofToken === 0 || ofToken + bytes <= maxBytesPerToken) &&
      (ofAll === 0 || ofAll + bytes <= maxBytes || ofToken + bytes <= alwaysBytes)
    if (bytes > had && !mayGrow) return false
    this.#heldBytes = ofAll + bytes
    if (ofToken + bytes === 0) this.#heldByToken.delete(token)
    else this.#heldByToken.set(token, ofToken + bytes)
    if (bytes < had) for (const resolve of this.#waiting.splice(0)) resolve()
    return true
  }
}

/** One reply's share of the room. Its owner closes it. */
export class ReplyShare {
  readonly #hold: (had: number, bytes: number) => boolean
  #bytes = 0
  #isClosed = false

  constructor(hold: (had: number, bytes: number) => boolean) {
    this.#hold = hold
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Holds this much from now on. False when there is no room: nothing has changed then. */
  hold(bytes: number): boolean {
    if (this.#isClosed) return true
    if (!this.#hold(this.#bytes, bytes)) return false
    this.#bytes = bytes
    return true
  }

  close(): void {
    this.hold(0)
    this.#isClosed = true
  }
}

export function busy(): HubError {
  const message = "Too many replies wait to be read: read the ones you asked for, then try again"
  return new HubError("hub/busy", message, { details: { retryAfterSeconds: 1 } })
}

export interface Pacing {
  /** It may hold something already, for a route that knows how much it will need. */
  readonly share: ReplyShare
  /** A reader that takes nothing for so long is cut off. */
  readonly stallMs: number
  readonly hangUp: () => void
  /** Calls back when the reply has left, or never will. Without it the end of the body counts. */
  readonly onClosed?: (closed: () => void) => void
}

/** A reader takes this much at a time, so a stall shows soon. */
const SLICE_BYTES = 64 * 1024
/** The server reads up to three slices ahead of the socket. */
export const AHEAD_BYTES = 3 * SLICE_BYTES
const NOTHING = new Uint8Array()

/**
 * The same body, read no faster than its reader takes it and counted while it waits. Throws `hub/busy` when its first part
 * has no room. A later part that has none ends the reply: the routes that send several hold enough from the start.
 */
export async function paceBody(body: ReadableStream<Uint8Array>, pacing: Pacing): Promise<ReadableStream<Uint8Array>> {
  const reader = body.getReader()
  const paced = new PacedBody(reader, pacing)
  try {
    if (!(await paced.readPart())) throw busy()
  } catch (error) {
    paced.cancel()
    throw error
  }
  return new ReadableStream<Uint8Array>(paced, { highWaterMark: 0 })
}

class PacedBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #pacing: Pacing
  readonly #reservedBytes: number
  /** The rest of the part that is being taken. */
  #rest: Uint8Array = NOTHING
  /** Bytes of that part, taken or not. */
  #partBytes = 0
  #isRead = false
  #stall: NodeJS.Timeout | undefined
  #isOver = false

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>, pacing: Pacing) {
    this.#reader = reader
    this.#pacing = pacing
    this.#reservedBytes = pacing.share.bytes
    pacing.onClosed?.(() => this.cancel())
  }

  /** Reads the next part, if there is one. False when it has no room. */
  async readPart(): Promise<boolean> {
    while (this.#rest.byteLength === 0 && !this.#isRead) {
      const { done, value } = await this.#reader.read()
      if (done) {
        this.#isRead = true
        return true
      }
      const ahead = Math.min(this.#partBytes, AHEAD_BYTES)
      this.#rest = value
      this.#partBytes = value.byteLength
      if (!this.#pacing.share.hold(Math.max(this.#reservedBytes, ahead + this.#partBytes))) return false
    }
    return true
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    clearTimeout(this.#stall)
    const hasRoom = await this.readPart()
    if (this.#isOver) return
    if (!hasRoom) return this.#hangUp()
    if (this.#rest.byteLength === 0) {
      controller.close()
      // The last slices may still be on their way.
      return this.#pacing.onClosed === undefined ? this.cancel() : this.#watch()
    }
    const slice = this.#rest.subarray(0, SLICE_BYTES)
    this.#rest = this.#rest.subarray(slice.byteLength)
    controller.enqueue(slice)
    this.#watch()
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#stall)
    this.#rest = NOTHING
    this.#pacing.share.close()
    this.#reader.cancel().catch(() => undefined)
  }

  #watch(): void {
    this.#stall = setTimeout(() => this.#hangUp(), this.#pacing.stallMs)
    this.#stall.unref()
  }

  #hangUp(): void {
    this.#pacing.hangUp()
    this.cancel()
  }
}
