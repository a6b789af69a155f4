import { type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import { type StoredEvent, wireObject } from "../model/event.ts"
import { textIn } from "./last-line.ts"

/** A message that the agent has not taken up. */
interface Waiting {
  readonly by: string
  readonly text: string
  /** It was sent in the middle of a turn, or behind a message that was: something else is read first. */
  readonly hasWaited: boolean
  /** How much the agent had said when it was sent. */
  readonly said: number
  /** A turn began behind it, before the agent said anything else: it may be that turn's. */
  mayBeTaken: boolean
}

/** A message that was sent in the middle of a turn, and is taken up now. */
interface TakenLate {
  readonly uuid: string
  readonly by: string
  readonly text: string
}

const MAX_WAITING = 400
/** The text is kept for a note, which stands in for a message that is not loaded. */
const TEXT_CHARS = 20_000
/** Older than anything the agent said: what was said before a restart of the hub is not known. */
const BEFORE_ALL = -1

/**
 * Tells which message the agent takes up where. A message sent in the middle of a turn stands in the log before the rest of
 * that turn, though the agent reads it later. An echo or the agent's own report tells when; of an agent that gives neither,
 * the next turn does.
 */
export class TakenMessages {
  readonly #waiting = new Map<string, Waiting>()
  #said = 0
  #isInTurn = false
  /** The agent tells itself when it takes a message up. */
  #tells = false

  /** `isOld`: it was sent before the hub was started. */
  sent(
    uuid: string,
    message: Envelope,
    { by, isOld = false }: { readonly by: string; readonly isOld?: boolean },
  ): void {
    const text = textIn(fieldOf(message, "message")?.["content"]).slice(0, TEXT_CHARS)
    const said = isOld ? BEFORE_ALL : this.#said
    const hasWaited = isOld || this.#isInTurn || this.#isBehindAnother()
    this.#waiting.set(uuid, { by, text, said, hasWaited, mayBeTaken: false })
    this.#isInTurn = true
    const [oldest] = this.#waiting.keys()
    if (this.#waiting.size > MAX_WAITING && oldest !== undefined) this.#waiting.delete(oldest)
  }

  forget(uuid: string): void {
    this.#waiting.delete(uuid)
  }

  get uuids(): readonly string[] {
    return [...this.#waiting.keys()]
  }

  /** The end of the log, read by a hub that was started again: messages that waited for their turn wait on. */
  recall(events: readonly Pick<StoredEvent, "from" | "by" | "key" | "line">[]): void {
    // Where a message that waited was taken up is in the log itself.
    this.#tells = true
    for (const { from, by = "", key, line } of events) {
      const message = wireObject(line)
      if (message === undefined) continue
      if (from === "agent") this.heard(message)
      else if (from === "client" && message.type === "user" && key !== undefined) this.sent(key, message, { by })
      else if (message["subtype"] === "message_taken") this.forget(textOf(message, "message_uuid") ?? "")
    }
    this.#tells = false
    for (const [uuid, { hasWaited }] of this.#waiting) if (!hasWaited) this.forget(uuid)
  }

  /** Another process: it may be of another version. */
  newProcess(): void {
    this.#tells = false
    this.#isInTurn = false
  }

  /** A line of the agent, in the order of the wire. Returns the messages whose place in the conversation is here. */
  heard(message: Envelope): readonly TakenLate[] {
    switch (message.type) {
      case "user": {
        if (message["isReplay"] !== true) return NONE
        this.#tells = true
        return this.#take(textOf(message, "uuid"))
      }
      case "command_lifecycle": {
        if (message["state"] !== "started") return NONE
        this.#tells = true
        return this.#take(textOf(message, "command_uuid"))
      }
      case "system":
        return message["subtype"] === "init" && !this.#tells ? this.#turnBegan() : NONE
      case "assistant":
      case "result":
        if (message["parent_tool_use_id"] != null) return NONE
        this.#said += 1
        this.#isInTurn = message.type === "assistant"
        return NONE
      default:
        return NONE
    }
  }

  /** Between two turns too: the next one is that of a message which waits already. */
  #isBehindAnother(): boolean {
    return [...this.#waiting.values()].some(({ hasWaited, mayBeTaken }) => hasWaited && !mayBeTaken)
  }

  #turnBegan(): readonly TakenLate[] {
    const late: TakenLate[] = []
    for (const [uuid, waiting] of this.#waiting) {
      if (waiting.mayBeTaken) continue
      // A message sent behind one that is told here would otherwise stand before it.
      if (waiting.said < this.#said || late.length > 0) late.push(...this.#take(uuid))
      else waiting.mayBeTaken = true
    }
    return late
  }

  #take(uuid: string | undefined): readonly TakenLate[] {
    const waiting = uuid === undefined ? undefined : this.#waiting.get(uuid)
    if (uuid === undefined || waiting === undefined) return NONE
    this.#waiting.delete(uuid)
    return waiting.hasWaited ? [{ uuid, by: waiting.by, text: waiting.text }] : NONE
  }
}

const NONE: readonly TakenLate[] = []
