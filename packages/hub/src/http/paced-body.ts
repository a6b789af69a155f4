import { busy, type ReplyShare } from "./reply-room.ts"

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
export const SLICE_BYTES = 64 * 1024
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
