import { type FileHandle, mkdir, open, readdir, readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { frameNumber } from "@signalbox/protocol/runner-wire"

/** A file of the spool: frames with dense numbers, one a line. It is deleted as a whole when all of it is acknowledged. */
export interface Segment {
  readonly path: string
  readonly first: number
  last: number
  bytes: number
}

export interface SpoolOptions {
  readonly folder: string
  /** Past this size the next frames go to a new file, so that what is acknowledged can be let go. */
  readonly segmentBytes: number
}

const SUFFIX = ".frames"
const NEWLINE = 0x0a

/**
 * Frames on disk, appended only. Survives the death of the process: what was written is read again by the next runner. It is
 * not synced: the machine itself may fail, and then the agent is gone too.
 */
export class Spool {
  readonly #folder: string
  readonly #segmentBytes: number
  readonly #segments: Segment[]
  #writer: { readonly segment: Segment; readonly file: FileHandle } | undefined

  private constructor({ folder, segmentBytes }: SpoolOptions, segments: Segment[]) {
    this.#folder = folder
    this.#segmentBytes = segmentBytes
    this.#segments = segments
  }

  static create(options: SpoolOptions): Spool {
    return new Spool(options, [])
  }

  /** Lines that an earlier runner left; undefined if there are none. */
  static async recover(options: SpoolOptions): Promise<Spool | undefined> {
    const names = (await readdir(options.folder).catch(() => [])).filter((name) => name.endsWith(SUFFIX))
    const firsts = names.map((name) => Number.parseInt(name, 10)).filter((first) => first > 0)
    const segments: Segment[] = []
    for (const first of firsts.sort((a, b) => a - b)) {
      const segment = await recoverSegment(join(options.folder, segmentName(first)), first)
      if (segment === undefined) continue
      // Everything before a hole was acknowledged, and only not cleared away in time.
      if (segments.at(-1)?.last !== segment.first - 1) segments.length = 0
      segments.push(segment)
    }
    return segments.length === 0 ? undefined : new Spool(options, segments)
  }

  get segments(): readonly Segment[] {
    return this.#segments
  }

  get bytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.bytes, 0)
  }

  /** One call at a time. A failed one may be repeated: what it half wrote is written over. */
  async append(frames: readonly string[]): Promise<void> {
    const first = frames[0]
    const last = frames.at(-1)
    if (first === undefined || last === undefined) return
    const { segment, file } = await this.#segmentFor(frameNumber(first))
    const bytes = Buffer.from(`${frames.join("\n")}\n`)
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await file.write(bytes, at, bytes.length - at, segment.bytes + at)
      at += bytesWritten
    }
    segment.bytes += bytes.length
    segment.last = frameNumber(last)
  }

  /** Reads the frames that come after this number. */
  read(after: number): SpoolReader {
    return new SpoolReader(this.#segments, after)
  }

  /** Everything up to this number is acknowledged. */
  async release(acked: number): Promise<void> {
    for (let oldest = this.#segments[0]; oldest !== undefined; oldest = this.#segments[0]) {
      // The newest may be written to this very moment.
      if (oldest.last > acked || this.#segments.length === 1) return
      this.#segments.shift()
      await rm(oldest.path, { force: true })
    }
  }

  /** Lets go of all of it. The folder stays: another spool may be in it by now. */
  async remove(): Promise<void> {
    await this.close()
    const segments = this.#segments.splice(0)
    await Promise.all(segments.map(({ path }) => rm(path, { force: true })))
  }

  async close(): Promise<void> {
    const writer = this.#writer
    this.#writer = undefined
    await writer?.file.close().catch(() => undefined)
  }

  async #segmentFor(number: number): Promise<{ segment: Segment; file: FileHandle }> {
    if (this.#writer !== undefined && this.#writer.segment.bytes < this.#segmentBytes) return this.#writer
    await this.close()
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const path = join(this.#folder, segmentName(number))
    const file = await open(path, "w", 0o600)
    const segment: Segment = { path, first: number, last: number - 1, bytes: 0 }
    this.#segments.push(segment)
    this.#writer = { segment, file }
    return this.#writer
  }
}

function segmentName(first: number): string {
  return `${String(first).padStart(12, "0")}${SUFFIX}`
}

/** The last line may be half written: its writer was killed. */
async function recoverSegment(path: string, first: number): Promise<Segment | undefined> {
  const text = await readFile(path)
  const bytes = text.lastIndexOf(NEWLINE) + 1
  if (bytes === 0) return undefined
  return { path, first, last: frameNumber(lastLineOf(text.subarray(0, bytes))), bytes }
}

export async function lastFrameOf({ path, bytes }: Segment): Promise<string> {
  return lastLineOf((await readFile(path)).subarray(0, bytes))
}

function lastLineOf(text: Buffer): string {
  return text.toString("utf8", text.lastIndexOf(NEWLINE, text.length - 2) + 1, text.length - 1)
}

const CHUNK_BYTES = 256 * 1024

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
