/**
 * Bytes to lines. A line ends at `\n` (a `\r` before it is dropped, blank lines are skipped), whatever the
 * chunks look like. Only the newest chunk is ever searched, so one long line in many chunks costs linear time.
 */

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
    // What was held belongs to the first line of this chunk; that line is finished by itself.
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
