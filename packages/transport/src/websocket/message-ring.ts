import { textOf } from "@signalbox/protocol"
import { DEFAULT_RING_BYTES } from "../default-limits.ts"

export interface RingLimits {
  readonly maxMessages?: number
  readonly maxBytes?: number
}

const DEFAULT_MAX_MESSAGES = 1000

/** The last messages that have a `uuid`, to be sent again when a connection broke: nobody says which of them arrived. */
export class MessageRing {
  readonly #maxMessages: number
  readonly #maxBytes: number
  #entries: { uuid: string; line: string }[] = []
  #chars = 0
  #lastUuid: string | undefined

  constructor(limits: RingLimits = {}) {
    this.#maxMessages = limits.maxMessages ?? DEFAULT_MAX_MESSAGES
    this.#maxBytes = limits.maxBytes ?? DEFAULT_RING_BYTES
  }

  /** The last message written, delivered or not; remembered even when the ring keeps nothing. */
  get lastUuid(): string | undefined {
    return this.#lastUuid
  }

  push(line: string): void {
    const uuid = uuidOf(line)
    if (uuid === undefined) return
    this.#lastUuid = uuid
    this.#entries.push({ uuid, line })
    this.#chars += line.length
    while (this.#entries.length > this.#maxMessages || (this.#chars > this.#maxBytes && this.#entries.length > 1)) {
      this.#chars -= this.#entries.shift()?.line.length ?? 0
    }
  }

  all(): string[] {
    return this.#entries.map((entry) => entry.line)
  }

  /** What came after that message; everything when it is not known. */
  after(uuid: string | undefined): string[] {
    const index = uuid === undefined ? -1 : this.#entries.findLastIndex((entry) => entry.uuid === uuid)
    return this.#entries.slice(index + 1).map((entry) => entry.line)
  }
}

function uuidOf(line: string): string | undefined {
  // Most lines without one are found without parsing.
  if (!line.includes('"uuid"')) return undefined
  try {
    return textOf(JSON.parse(line), "uuid") || undefined
  } catch {
    return undefined
  }
}
