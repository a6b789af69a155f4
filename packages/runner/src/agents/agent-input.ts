import { type Envelope, fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { ChildTransport } from "@signalbox/transport"
import { parseLine } from "./activity.ts"

const MAX_SEEN = 10_000
const MAX_UNDELIVERED = 1_000
/** Past this much waiting for the agent, the hub is not read on. */
const HIGH_WATER_CHARS = 4 * 1024 * 1024

export interface AgentInputOptions {
  readonly child: Pick<ChildTransport, "send">
  /** Too much waits for the agent, or no longer does. */
  readonly onFull: (isFull: boolean) => void
}

/** Lines for the agent's standard input: in order, each once. */
export class AgentInput {
  readonly #options: AgentInputOptions
  readonly #seen = new SeenKeys(MAX_SEEN)
  readonly #undelivered = new Set<string>()
  #lastReceived: string | null = null
  #waitingChars = 0
  #isFull = false

  constructor(options: AgentInputOptions) {
    this.#options = options
  }

  /** The user messages that came too late to reach the agent, by `uuid`. */
  get undelivered(): readonly string[] {
    return [...this.#undelivered]
  }

  /** The last user message that was written to the agent, by `uuid`. */
  get lastReceived(): string | null {
    return this.#lastReceived
  }

  /** A repeat is not written. */
  write(line: string): { readonly isRepeat: boolean; readonly message: Envelope | undefined } {
    const message = parseLine(line)
    const messageUuid = message?.type === "user" ? textOf(message, "uuid") : undefined
    const answered =
      message?.type === "control_response" ? textOf(fieldOf(message, "response"), "request_id") : undefined
    // The same key again is the same line again.
    const key = messageUuid === undefined ? answered && `answer ${answered}` : `user ${messageUuid}`
    if (key !== undefined && !this.#seen.add(key)) return { isRepeat: true, message }
    this.#waitingChars += line.length
    this.#tellFullness()
    // Lines that are sent one after the other arrive so; only how each ended is waited for here.
    void this.#options.child
      .send(line)
      .then(() => this.#received(messageUuid))
      .catch(() => {
        // One that lives and had too much waiting may be given it again.
        if (key !== undefined) this.#seen.delete(key)
        if (messageUuid !== undefined && this.#undelivered.size < MAX_UNDELIVERED) this.#undelivered.add(messageUuid)
      })
      .finally(() => {
        this.#waitingChars -= line.length
        this.#tellFullness()
      })
    return { isRepeat: false, message }
  }

  #received(messageUuid: string | undefined): void {
    if (messageUuid === undefined) return
    this.#lastReceived = messageUuid
    this.#undelivered.delete(messageUuid)
  }

  #tellFullness(): void {
    const isFull = this.#waitingChars > (this.#isFull ? HIGH_WATER_CHARS / 2 : HIGH_WATER_CHARS)
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    this.#options.onFull(isFull)
  }
}

/** The last so many keys. */
class SeenKeys {
  readonly #max: number
  readonly #keys = new Set<string>()

  constructor(max: number) {
    this.#max = max
  }

  /** False if it was there already. */
  add(key: string): boolean {
    if (this.#keys.has(key)) return false
    this.#keys.add(key)
    if (this.#keys.size > this.#max) {
      // A Set keeps the order of insertion: the first is the oldest.
      for (const oldest of this.#keys) {
        this.#keys.delete(oldest)
        break
      }
    }
    return true
  }

  delete(key: string): void {
    this.#keys.delete(key)
  }
}
