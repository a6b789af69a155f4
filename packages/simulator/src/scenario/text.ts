import type { ScenarioText } from "./schema.ts"

export type Pace = { deltas?: number; chunk?: number; pauseMs?: number }

const DEFAULT_CHUNK = 48

/** UTF-16 units of the whole text, known without building it. */
export function lengthOf(text: ScenarioText): number {
  if (typeof text === "string") return text.length
  return text.repeat.length * repetitions(text).full + repetitions(text).rest.length
}

/** The text in pieces, made as they are asked for: a text of 256 MB is never in memory. */
export function* piecesOf(text: ScenarioText, pace: Pace): Generator<string> {
  const size = pieceSize(lengthOf(text), pace)
  let pending = ""
  for (const part of partsOf(text, size)) {
    pending += part
    while (pending.length >= size + 1) {
      const end = boundary(pending, size)
      yield pending.slice(0, end)
      pending = pending.slice(end)
    }
  }
  if (pending !== "") yield pending
}

export function wholeText(text: ScenarioText): string {
  if (typeof text === "string") return text
  const { full, rest } = repetitions(text)
  return text.repeat.repeat(full) + rest
}

function pieceSize(length: number, { deltas, chunk }: Pace): number {
  if (deltas !== undefined) return Math.max(1, Math.ceil(length / deltas))
  return chunk ?? DEFAULT_CHUNK
}

/** Never between the halves of a surrogate pair: a lone half does not survive UTF-8. */
function boundary(text: string, size: number): number {
  const code = text.charCodeAt(size - 1)
  return code >= 0xd800 && code <= 0xdbff ? size + 1 : size
}

/** The text in runs about as long as a piece, so that short repeats do not cost a step each. */
function* partsOf(text: ScenarioText, size: number): Generator<string> {
  if (typeof text === "string") {
    yield text
    return
  }
  const { full, rest } = repetitions(text)
  const perRun = Math.min(full, Math.max(1, Math.ceil(size / text.repeat.length)))
  const run = text.repeat.repeat(perRun)
  for (let done = 0; done < full; done += perRun) yield done + perRun <= full ? run : text.repeat.repeat(full - done)
  if (rest !== "") yield rest
}

function repetitions(text: Exclude<ScenarioText, string>): { full: number; rest: string } {
  if ("times" in text) return { full: text.times, rest: "" }
  const bytesEach = Buffer.byteLength(text.repeat)
  const full = Math.floor(text.bytes / bytesEach)
  return { full, rest: headOfBytes(text.repeat, text.bytes - full * bytesEach) }
}

/** The longest beginning that takes at most so many bytes, in whole characters. */
function headOfBytes(text: string, bytes: number): string {
  let used = 0
  let head = ""
  for (const character of text) {
    used += Buffer.byteLength(character)
    if (used > bytes) break
    head += character
  }
  return head
}
