import type { FileHandle } from "node:fs/promises"

const CHUNK_BYTES = 256 * 1024
/** A longer line is no message of anybody's; it is passed over rather than held in memory. */
const MAX_LINE_BYTES = 128 * 1024 * 1024
const NEWLINE = 0x0a

export interface TranscriptLine {
  readonly text: string
  readonly offset: number
  readonly bytes: number
}

/** The lines of an open file one after the other; no more than one line and one chunk is in memory at a time. */
export async function* linesOf(file: FileHandle): AsyncGenerator<TranscriptLine> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let begun: Buffer[] = []
  let [begunBytes, lineOffset] = [0, 0]
  for (let position = 0; ; ) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position)
    if (bytesRead === 0) break
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && end < bytesRead; end = chunk.indexOf(NEWLINE, start)) {
      const bytes = begunBytes + end - start
      const rest = chunk.subarray(start, end)
      if (bytes <= MAX_LINE_BYTES) yield { text: joined(begun, rest), offset: lineOffset, bytes }
      start = end + 1
      lineOffset += bytes + 1
      begun = []
      begunBytes = 0
    }
    begunBytes += bytesRead - start
    if (begunBytes <= MAX_LINE_BYTES) begun.push(Buffer.from(chunk.subarray(start, bytesRead)))
    else begun = []
    position += bytesRead
  }
  if (begunBytes > 0 && begunBytes <= MAX_LINE_BYTES)
    yield { text: joined(begun, Buffer.alloc(0)), offset: lineOffset, bytes: begunBytes }
}

/** A line that was seen before, read again. */
export async function lineAt(file: FileHandle, { offset, bytes }: { offset: number; bytes: number }): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(bytes), 0, bytes, offset)
  return buffer.toString("utf8", 0, bytesRead)
}

function joined(begun: readonly Buffer[], rest: Buffer): string {
  return begun.length === 0 ? rest.toString("utf8") : Buffer.concat([...begun, rest]).toString("utf8")
}
