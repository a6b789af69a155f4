import { rm } from "node:fs/promises"
import { encodeAgentLine, encodeNote, type RunnerNote } from "@signalbox/protocol/runner-wire"
import type { Clock } from "@signalbox/transport"
import { Waker } from "@signalbox/transport/pacing"
import { lastFrameOf, Spool, type SpoolReader } from "./spool.ts"

export interface KeptLinesOptions {
  /** Where the spool is, once there is one. */
  readonly folder: string
  /** Unacknowledged lines beyond this go to disk. */
  readonly memoryBytes: number
  /** Past this on disk there is no room: the agent is made to wait. */
  readonly spoolBytes: number
  readonly segmentBytes?: number
  readonly clock: Clock
  /** Told when the disk does not take what it must; it is tried again until it does. */
  readonly onDiskTrouble: (error: unknown) => void
}

const SEGMENT_BYTES = 16 * 1024 * 1024
const WRITE_BYTES = 1024 * 1024
const SEND_BYTES = 256 * 1024
const RETRY_MS = 1_000

/**
 * Everything an agent said that the hub has not acknowledged, in order, each with its number. In memory while the hub keeps
 * up. Once there is too much of it, or the hub is away, all of it is on disk and what is new goes there first, until
 * everything is acknowledged: what was sent is then never newer than what a killed runner leaves behind.
 */
export class KeptLines {
  readonly #options: KeptLinesOptions
  /** Without a spool: all that is kept. With one: what is not written yet. */
  #queue = new FrameQueue()
  #spool: Spool | undefined
  #reader: SpoolReader | undefined
  #writing: Promise<void> | undefined
  /** Deletes files whose every line is acknowledged, one after the other. */
  #clearing = Promise.resolve()
  #last = 0
  #acked = 0
  readonly #change = new Waker()
  #phase: "open" | "closed" = "open"
  #isHubAway = false
  #isBounded = true
  #recoveredLastFrame: string | undefined
  /** Called when there is something new to send. */
  onMore: () => void = () => undefined

  constructor(options: KeptLinesOptions) {
    this.#options = options
  }

  /** An agent's lines that an earlier runner left; undefined if there are none. */
  static async recover(options: KeptLinesOptions): Promise<KeptLines | undefined> {
    const spool = await Spool.recover(spoolOptions(options))
    const [oldest, newest] = [spool?.segments[0], spool?.segments.at(-1)]
    if (spool === undefined || oldest === undefined || newest === undefined) return undefined
    const kept = new KeptLines(options)
    kept.#spool = spool
    kept.#acked = oldest.first - 1
    kept.#last = newest.last
    kept.#recoveredLastFrame = await lastFrameOf(newest)
    return kept
  }

  /** The first number that is still kept. */
  get first(): number {
    return this.#acked + 1
  }

  get last(): number {
    return this.#last
  }

  addLine(line: string): void {
    this.#add(encodeAgentLine(this.#last + 1, line))
  }

  addNote(note: RunnerNote): void {
    this.#add(encodeNote(this.#last + 1, note))
  }

  /** Resolves when more may be added. What is added without waiting is kept all the same. */
  async room(): Promise<void> {
    while (!this.#hasRoom() && this.#phase === "open") {
      await this.#change.wait()
    }
  }

  /** The process is gone: the little that it left is taken whether or not there is room. */
  letIn(): void {
    this.#isBounded = false
    this.#change.wake()
  }

  /** While the hub is away everything goes to disk, so that a runner that is killed meanwhile leaves it to the next one. */
  set isHubAway(isAway: boolean) {
    this.#isHubAway = isAway
    if (isAway) this.#spill()
  }

  /** The last thing that is kept, as it travels; only of what was recovered. */
  get recoveredLastFrame(): string | undefined {
    return this.#recoveredLastFrame
  }

  /** All of it to disk, now and until everything is acknowledged. */
  #spill(): void {
    if (this.#phase === "closed" || this.#last === this.#acked) return
    this.#spool ??= Spool.create(spoolOptions(this.#options))
    if (this.#queue.bytes > 0) this.#writing ??= this.#write()
  }

  ack(number: number): void {
    if (number <= this.#acked) return
    this.#acked = Math.min(number, this.#last)
    if (this.#spool === undefined) this.#queue.dropTo(this.#acked)
    else void this.#spool.release(this.#acked).catch((error: unknown) => this.#tell(error))
    this.#settle()
    this.#change.wake()
  }

  /** The frames after this number, as many as make a good write; none if there is nothing more at present. One call at a time. */
  async next(after: number): Promise<readonly string[]> {
    if (this.#spool === undefined) return this.#queue.after(after, SEND_BYTES)
    if (this.#reader === undefined || this.#reader.after !== after) {
      await this.#reader?.close()
      this.#reader = this.#spool.read(after)
    }
    const reader = this.#reader
    try {
      return await reader.next()
    } catch (error) {
      // Everything was acknowledged meanwhile, and the files are gone.
      if (this.#reader !== reader) return []
      throw error
    }
  }

  /** Everything that is not acknowledged is on disk when it resolves, for the next runner; unless the disk fails. */
  async close(): Promise<void> {
    this.#spill()
    this.#phase = "closed"
    this.#change.wake()
    await this.#writing
    await this.#clearing
    await this.#reader?.close()
    await this.#spool?.close()
  }

  /** Closes it and leaves nothing on disk. */
  async remove(): Promise<void> {
    this.#queue = new FrameQueue()
    this.#acked = this.#last
    await this.close()
    await rm(this.#options.folder, { recursive: true, force: true, maxRetries: 3 })
  }

  #add(frame: string): void {
    this.#last++
    this.#queue.push(this.#last, frame)
    const isTooMuch = this.#queue.bytes > this.#options.memoryBytes
    if (this.#spool !== undefined || this.#isHubAway || isTooMuch) this.#spill()
    else this.onMore()
  }

  #hasRoom(): boolean {
    if (this.#spool === undefined || !this.#isBounded) return true
    return this.#queue.bytes <= this.#options.memoryBytes && this.#spool.bytes < this.#options.spoolBytes
  }

  async #write(): Promise<void> {
    for (let frames = this.#queue.oldest(WRITE_BYTES); frames.length > 0; ) {
      try {
        await this.#spool?.append(frames)
        this.#queue.dropOldest(frames.length)
        this.onMore()
        this.#change.wake()
      } catch (error) {
        this.#tell(error)
        if (this.#phase === "closed") break
        await new Promise<void>((resolve) => this.#options.clock.after(RETRY_MS, resolve, "idle"))
      }
      frames = this.#queue.oldest(WRITE_BYTES)
    }
    // In the same breath as the last look: what is added from now on gets a writer of its own.
    this.#writing = undefined
    this.#settle()
  }

  /** Back to memory when nothing is left to acknowledge. */
  #settle(): void {
    if (this.#acked !== this.#last || this.#writing !== undefined || this.#phase === "closed") return
    const [spool, reader] = [this.#spool, this.#reader]
    this.#spool = undefined
    this.#reader = undefined
    if (spool === undefined) return
    this.#clearing = this.#clearing.then(() => clear(spool, reader)).catch((error: unknown) => this.#tell(error))
  }

  /** The log may be on the same disk: that it cannot be told must not stop the tries. */
  #tell(error: unknown): void {
    try {
      this.#options.onDiskTrouble(error)
    } catch {
      // Nobody else is there to be told.
    }
  }
}

function spoolOptions({ folder, segmentBytes = SEGMENT_BYTES }: KeptLinesOptions) {
  return { folder, segmentBytes }
}

async function clear(spool: Spool, reader: SpoolReader | undefined): Promise<void> {
  await reader?.close()
  await spool.remove()
}

/** Frames in memory with dense numbers, oldest first, with their size. */
class FrameQueue {
  #frames: string[] = []
  /** How many at the beginning are gone already; they are let go in bulk. */
  #gone = 0
  /** The number of the oldest. */
  #first = 1
  #bytes = 0

  /** Characters, which is near enough: the bound is about memory. */
  get bytes(): number {
    return this.#bytes
  }

  push(number: number, frame: string): void {
    if (this.#frames.length === this.#gone) this.#first = number
    this.#frames.push(frame)
    this.#bytes += frame.length
  }

  /** Lets go of all up to this number. */
  dropTo(number: number): void {
    this.dropOldest(number - this.#first + 1)
  }

  dropOldest(count: number): void {
    for (let dropped = 0; dropped < count && this.#gone < this.#frames.length; dropped++) {
      this.#bytes -= this.#frames[this.#gone]?.length ?? 0
      // Overwritten and not only skipped, so that the text is free now and not when the array is cut.
      this.#frames[this.#gone++] = ""
      this.#first++
    }
    if (this.#gone < 256 || this.#gone * 2 < this.#frames.length) return
    this.#frames = this.#frames.slice(this.#gone)
    this.#gone = 0
  }

  oldest(maxBytes: number): string[] {
    return this.#from(this.#gone, maxBytes)
  }

  /** The frames after this number. */
  after(number: number, maxBytes: number): string[] {
    return this.#from(this.#gone + Math.max(0, number - this.#first + 1), maxBytes)
  }

  /** At least one if there is one, then as many as fit. */
  #from(start: number, maxBytes: number): string[] {
    let end = start
    for (let bytes = 0; end < this.#frames.length && bytes < maxBytes; end++) bytes += this.#frames[end]?.length ?? 0
    return this.#frames.slice(start, end)
  }
}
