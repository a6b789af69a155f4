import { StringDecoder } from "node:string_decoder"

/** A longer line passes all the same, and is left out of the recording. */
const MAX_LINE_CHARS = 256 * 1024 * 1024

/** Lines of a stream that somebody else reads. */
export function createLineSplitter(onLine: (line: string) => void): { push(chunk: Buffer): void; end(): void } {
  const decoder = new StringDecoder("utf8")
  let pieces: string[] = []
  let size = 0
  const finish = (rest: string) => {
    const line = size > MAX_LINE_CHARS ? "" : [...pieces, rest].join("")
    pieces = []
    size = 0
    if (line.trim() !== "") onLine(line)
  }
  return {
    push(chunk) {
      const parts = decoder.write(chunk).split("\n")
      const last = parts.pop() ?? ""
      for (const part of parts) finish(part)
      size += last.length
      if (size <= MAX_LINE_CHARS) pieces.push(last)
    },
    end: () => finish(decoder.end()),
  }
}
