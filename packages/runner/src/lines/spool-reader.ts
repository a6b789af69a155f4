import { type FileHandle, open } from "node:fs/promises"
import { frameNumber } from "./frame-number.ts"
import type { Segment } from "./spool.ts"

const CHUNK_BYTES = 256 * 1024
const NEWLINE = 0x0a

/** Reads a spool from a number on, a bounded chunk at a time, while others append to it. */
export class SpoolReader {
  readonly #segments: readonly Segment[]
  #after: number
  #open: { readonly segment: Segment; readonly file: FileHandle; offset: number } | undefined

  constructor(segments: readonly Segment[], after: number) {
    this.#segments = segments
    this.#after = after
  }

  /** The number of the last frame that was read. */
  get after(): number {
    return this.#after
  }

  /** The frames that follow; none if all that is written was read. */
  async next(): Promise<readonly string[]> {
    for (;;) {
      const current = await this.#current()
      if (current === undefined) return []
      const frames = await readChunk(current)
      const fresh = frames.filter((frame) => frameNumber(frame) > this.#after)
      const last = fresh.at(-1)
      if (last === undefined && frames.length > 0) continue
      if (last === undefined) return []
      this.#after = frameNumber(last)
      return fresh
    }
  }

  async close(): Promise<void> {
    const current = this.#open
    this.#open = undefined
    await current?.file.close().catch(() => undefined)
  }

  async #current() {
    const wanted = this.#segments.find(({ last }) => last > this.#after)
    if (wanted === undefined || wanted === this.#open?.segment) return wanted === undefined ? undefined : this.#open
    await this.close()
    this.#open = { segment: wanted, file: await open(wanted.path, "r"), offset: 0 }
    return this.#open
  }
}

/** Whole lines only; a line longer than a chunk is read with a larger one. */
async function readChunk(at: { segment: Segment; file: FileHandle; offset: number }): Promise<string[]> {
  for (let size = CHUNK_BYTES; ; size *= 2) {
    const left = at.segment.bytes - at.offset
    const { buffer, bytesRead } = await at.file.read(Buffer.alloc(Math.min(size, left)), { position: at.offset })
    const end = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE)
    if (end >= 0) {
      at.offset += end + 1
      return buffer.toString("utf8", 0, end).split("\n")
    }
    if (size >= left) return []
  }
}
