/**
 * Bytes to lines, and below it lines to values. A line ends at `\n` (a `\r` before it is dropped, blank lines are skipped), whatever the
 * chunks look like. Only the newest chunk is ever searched, so one long line in many chunks costs linear time.
 */
import { isObject, parseJson } from "./envelope.ts"

// Present in every runtime we support, and in no library this room compiles against.
declare const TextDecoder: new (label: string, options: { ignoreBOM: boolean }) => { decode(bytes: Uint8Array): string }

export const DEFAULT_MAX_LINE_BYTES = 32 * 1024 * 1024

/** A line that was too long to keep. The lines before and after it are not affected. */
export interface DroppedLine {
  /** Counted from 1, blank lines included. */
  readonly lineNumber: number
  readonly bytes: number
  readonly maxLineBytes: number
  /** The line's beginning, enough to recognise it. */
  readonly head: string
}

export interface LineSplitterOptions {
  readonly maxLineBytes?: number
  readonly onDropped?: (dropped: DroppedLine) => void
}

export interface LineSplitter {
  /** Takes the next bytes of a stream and returns the lines they complete. The chunk must not be reused by the caller. */
  push(chunk: Uint8Array): string[]
  /**
   * Takes one WebSocket frame. As `push`, but a frame that is by itself one whole JSON object is a line even without
   * its final newline: some clients leave it out, and no further bytes could make it a different object.
   */
  pushFrame(frame: Uint8Array): string[]
  /** The stream is over: returns what was left without a newline. */
  end(): string[]
  /** Bytes held for a line that has not ended yet; never more than `maxLineBytes`. */
  readonly heldBytes: number
}

const NEWLINE = 0x0a
const SPACE = 0x20
const SMALL_CHUNK_BYTES = 16 * 1024
const CARRIAGE_RETURN = 0x0d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const MAX_HEAD_BYTES = 80

export function createLineSplitter(options: LineSplitterOptions = {}): LineSplitter {
  const maxLineBytes = options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES
  if (!(maxLineBytes > 0)) throw new Error(`maxLineBytes must be a positive number, not ${maxLineBytes}`)
  // Never more than the limit, so that it is the same however the line was cut into chunks.
  const headBytes = Math.min(MAX_HEAD_BYTES, maxLineBytes)
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  let held: Uint8Array[] = []
  let heldBytes = 0
  let lineNumber = 1
  /** While set, the line under way is over the limit: its bytes are counted and forgotten. */
  let tooLong: { head: string; bytes: number } | undefined

  function hold(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    if (tooLong !== undefined) {
      tooLong.bytes += chunk.length
    } else if (heldBytes + chunk.length > maxLineBytes) {
      const head = joinChunks([...held, chunk.subarray(0, headBytes)]).subarray(0, headBytes)
      tooLong = { head: decoder.decode(head), bytes: heldBytes + chunk.length }
      held = []
      heldBytes = 0
    } else {
      held.push(chunk)
      heldBytes += chunk.length
      mergeSmallChunks(held)
    }
  }

  function finishLine(out: string[]): void {
    if (tooLong !== undefined) {
      options.onDropped?.({ lineNumber, bytes: tooLong.bytes, maxLineBytes, head: tooLong.head })
      tooLong = undefined
    } else if (heldBytes > 0) {
      collect(decoder.decode(joinChunks(held)), out)
    }
    held = []
    heldBytes = 0
    lineNumber++
  }

  function push(chunk: Uint8Array): string[] {
    const last = chunk.lastIndexOf(NEWLINE)
    if (last === -1) {
      hold(chunk)
      return []
    }
    const out: string[] = []
    let start = 0
    // The held part belongs to the first line of this chunk; that line is finished by itself.
    if (heldBytes > 0 || tooLong !== undefined) {
      const end = chunk.indexOf(NEWLINE)
      hold(chunk.subarray(0, end))
      finishLine(out)
      start = end + 1
    }
    if (start <= last) {
      const complete = chunk.subarray(start, last)
      if (complete.length <= maxLineBytes) lineNumber += collectLines(decoder.decode(complete), out)
      else pushOneByOne(chunk.subarray(start, last + 1), out)
    }
    hold(chunk.subarray(last + 1))
    return out
  }

  /** A chunk larger than the limit: its lines are measured one at a time. */
  function pushOneByOne(bytes: Uint8Array, out: string[]): void {
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(NEWLINE, start)
      hold(bytes.subarray(start, end))
      finishLine(out)
      start = end + 1
    }
  }

  return {
    push,
    pushFrame(frame) {
      const lines = push(frame)
      // A long line in many frames is not looked at again with each of them: only if it began in this very frame.
      const isWorthALook = heldBytes <= Math.max(frame.length, SMALL_CHUNK_BYTES)
      if (frame.length > 0 && heldBytes > 0 && isWorthALook) {
        held = [joinChunks(held)]
        if (isWholeObject(held[0], decoder)) finishLine(lines)
      }
      return lines
    },
    end() {
      const out: string[] = []
      if (heldBytes > 0 || tooLong !== undefined) finishLine(out)
      return out
    },
    get heldBytes() {
      return heldBytes
    },
  }
}

/**
 * A peer may write byte by byte, and a chunk costs a hundred times its one byte. Small neighbours become one, in steps
 * that double, so that all the copying together stays small too.
 */
function mergeSmallChunks(chunks: Uint8Array[]): void {
  for (;;) {
    const last = chunks.at(-1)
    const before = chunks.at(-2)
    if (last === undefined || before === undefined) return
    if (last.length >= SMALL_CHUNK_BYTES || before.length > last.length) return
    chunks.splice(-2, 2, joinChunks([before, last]))
  }
}

function joinChunks(chunks: readonly Uint8Array[]): Uint8Array {
  const only = chunks[0]
  if (chunks.length === 1 && only !== undefined) return only
  const joined = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let offset = 0
  for (const chunk of chunks) {
    joined.set(chunk, offset)
    offset += chunk.length
  }
  return joined
}

/** One decoded stretch of whole lines; splitting the text is far cheaper than decoding each line's bytes. */
function collectLines(text: string, out: string[]): number {
  let count = 1
  let start = 0
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
    const stop = text.charCodeAt(end - 1) === CARRIAGE_RETURN ? end - 1 : end
    // A message begins with its brace; only what begins with white space may be nothing but that.
    if (text.charCodeAt(start) > SPACE) out.push(text.slice(start, stop))
    else collect(text.slice(start, stop), out)
    start = end + 1
    count++
  }
  collect(start === 0 ? text : text.slice(start), out)
  return count
}

/** Blank is ASCII's, as in the bytes: a line of U+2028 alone is a line. */
const NOT_BLANK = /[^\0-\x20]/

function collect(line: string, out: string[]): void {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line
  if (text.charCodeAt(0) > SPACE || NOT_BLANK.test(text)) out.push(text)
}

function isWholeObject(bytes: Uint8Array | undefined, decoder: { decode(bytes: Uint8Array): string }): boolean {
  if (bytes === undefined) return false
  const first = bytes.find((byte) => byte > SPACE)
  const last = bytes.findLast((byte) => byte > SPACE)
  if (first !== OPENING_BRACE || last !== CLOSING_BRACE) return false
  try {
    JSON.parse(decoder.decode(bytes))
    return true
  } catch {
    return false
  }
}

/** Parses one line; throws as `JSON.parse` does. */
export type LineParser = (line: string) => unknown

/**
 * `JSON.parse` for the lines of one peer, at half its price where it counts: of all that an agent says, most is one delta after
 * another that differ in two strings, the words and the `uuid`. The text around them is remembered, and where a line has
 * the same text around them its message is a copy with these two replaced. Whatever differs in anything else, or has an escape in its
 * words, goes through `JSON.parse`, so that what comes out is the same, order of the keys included. [M13]
 */
export function createLineParser(): LineParser {
  let known: DeltaForm | undefined
  let untilLearning = 1
  return (line) => {
    const delta = known === undefined ? undefined : deltaOf(known, line)
    if (delta !== undefined) {
      untilLearning = MISSES_BEFORE_LEARNING
      return delta
    }
    const value: unknown = JSON.parse(line)
    // Two sub-agents that take turns would have the form learned anew with each line, at the price of two.
    if (isDelta(value) && --untilLearning <= 0) {
      known = learn(line, value) ?? known
      untilLearning = MISSES_BEFORE_LEARNING
    }
    return value
  }
}

const MISSES_BEFORE_LEARNING = 8
/** A longer line is no piece of a sentence, and what is kept of it would be kept as long as the connection. */
const MAX_LEARNED_CHARS = 4096
/** Anything but what stands for itself in a JSON string: all from the space on, without the quote and the backslash. */
const NOT_PLAIN = /[^ !#-[\]-\uffff]/

type Words = "text" | "thinking"

/** The line is `head words mid uuid tail`, or has its `uuid` first. */
interface DeltaForm {
  readonly head: string
  readonly mid: string
  readonly tail: string
  readonly words: Words
  readonly isUuidFirst: boolean
  readonly message: DeltaMessage
}

interface DeltaMessage {
  readonly type: "stream_event"
  readonly uuid: string
  readonly event: { readonly type: string; readonly delta: Readonly<Record<string, unknown>> }
}

function deltaOf(form: DeltaForm, line: string): unknown {
  const { head, mid, tail } = form
  const firstAt = head.length
  // Pieces are cut out and compared: `startsWith` goes character by character and takes longer than parsing.
  if (line.slice(0, firstAt) !== head) return undefined
  const midAt = line.indexOf('"', firstAt)
  const secondAt = midAt + mid.length
  const tailAt = line.length - tail.length
  if (midAt === -1 || tailAt < secondAt) return undefined
  if (line.slice(midAt, secondAt) !== mid || line.slice(tailAt) !== tail) return undefined
  // Joined, they are a text of their own. A piece cut out of the line would keep the line's whole chunk in memory.
  const both = line.slice(firstAt, midAt) + line.slice(secondAt, tailAt)
  if (NOT_PLAIN.test(both)) return undefined
  const first = both.slice(0, midAt - firstAt)
  const second = both.slice(midAt - firstAt)
  return form.isUuidFirst ? copyOf(form, second, first) : copyOf(form, first, second)
}

function copyOf({ message, words }: DeltaForm, said: string, uuid: string): unknown {
  const { event } = message
  const delta = words === "text" ? { ...event.delta, text: said } : { ...event.delta, thinking: said }
  return { ...message, event: { ...event, delta }, uuid }
}

function isDelta(value: unknown): value is DeltaMessage {
  if (!isObject(value) || value["type"] !== "stream_event" || typeof value["uuid"] !== "string") return false
  const { event } = value
  return isObject(event) && event["type"] === "content_block_delta" && isObject(event["delta"])
}

function learn(line: string, message: DeltaMessage): DeltaForm | undefined {
  const { event } = message
  const words = "text" in event.delta ? "text" : "thinking"
  const said = event.delta[words]
  if (line.length > MAX_LEARNED_CHARS || typeof said !== "string" || NOT_PLAIN.test(said + message.uuid))
    return undefined
  if (!isFlat(message, "event") || !isFlat(event, "delta") || !isFlat(event.delta)) return undefined
  const slots = {
    words: { at: endOf(line, `"${words}":"`), text: said },
    uuid: { at: endOf(line, `"uuid":"`), text: message.uuid },
  }
  const isUuidFirst = slots.uuid.at < slots.words.at
  const [first, second] = isUuidFirst ? [slots.uuid, slots.words] : [slots.words, slots.uuid]
  const head = ownText(line.slice(0, first.at))
  const mid = ownText(line.slice(first.at + first.text.length, second.at))
  const tail = ownText(line.slice(second.at + second.text.length))
  if (!mid.startsWith('"') || !tail.startsWith('"')) return undefined
  // The proof: with something else in the two places, exactly these two fields are something else. What it gives is
  // nobody else's object, and the one that copies are made of.
  const probe = parseJson(`${head}${first.text}?${mid}${second.text}?${tail}`)
  if (!isDelta(probe) || probe.event.delta[words] !== `${said}?` || probe.uuid !== `${message.uuid}?`) return undefined
  return { head, mid, tail, words, isUuidFirst, message: probe }
}

/** Copies share what is inside of a field, so that there must be nothing but what is copied itself. */
function isFlat(object: object, but?: string): boolean {
  return Object.entries(object).every(([key, value]) => key === but || value === null || typeof value !== "object")
}

function endOf(line: string, text: string): number {
  const at = line.indexOf(text)
  return at === -1 ? line.length : at + text.length
}

/** The same text, and not as a part of a longer one that would be kept with it. */
function ownText(text: string): string {
  return ` ${text}`.slice(1)
}
