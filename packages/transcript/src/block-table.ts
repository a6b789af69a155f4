import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Board } from "./board.ts"
import { byPlace, type Entry, given, numberOf, type Place } from "./entry.ts"
import { pictureOf } from "./pictures.ts"
import type { JsonObject, Row, TranscriptEvent } from "./row.ts"

/** A block's place among those of its message. The entry is absent where a tool's own row shows it. */
interface Slot extends Place {
  n: number
  entry?: Entry
}

/** What the agent said, block by block. Blocks of one message come one by one and share its id. */
export class BlockTable {
  readonly #board: Board
  readonly #messages = new Map<string, Slot[]>()
  readonly #retracted = new Set<string>()

  constructor(board: Board) {
    this.#board = board
  }

  isRetracted(uuid: string): boolean {
    return this.#retracted.has(uuid)
  }

  retract(uuids: unknown): void {
    if (!Array.isArray(uuids)) return
    for (const uuid of uuids) if (typeof uuid === "string") this.#retracted.add(uuid)
    // Which rows these are is not kept: it happens too rarely to pay for it with every message.
    if (uuids.length > 0) this.#board.fadeAll()
  }

  /** How many blocks of a message are known. */
  countOf(messageId: string): number {
    return this.#messages.get(messageId)?.length ?? 0
  }

  /** Tells the number of the block within its message. */
  count(messageId: string, place: Place): Slot {
    const slots = this.#messages.get(messageId) ?? []
    this.#messages.set(messageId, slots)
    const slot: Slot = { ...place, n: slots.length }
    const last = slots.at(-1)
    slots.push(slot)
    if (last !== undefined && byPlace(last, slot) > 0) this.#renumber(slots)
    return slot
  }

  /** Tells the number of the block within its message; undefined when the message has no id. */
  add(event: TranscriptEvent, block: JsonObject, place: Place): number | undefined {
    const { message } = event
    const id = textOf(fieldOf(message, "message"), "id")
    const slot = id === undefined ? undefined : this.count(id, place)
    const uuid = textOf(message, "uuid")
    const keyOf = () => (slot === undefined ? `e:${uuid ?? event.seq}:${place.pos}` : `b:${id}:${slot.n}`)
    const isRetracted = () => uuid !== undefined && this.#retracted.has(uuid)
    const entry = this.#board.add(place, () =>
      drawBlock({ event, block, place, key: keyOf(), isRetracted: isRetracted() }),
    )
    if (slot !== undefined) slot.entry = entry
    return slot?.n
  }

  /** A part of the message that lies before what was known of it. */
  #renumber(slots: Slot[]): void {
    slots.sort(byPlace)
    for (const [n, slot] of slots.entries()) {
      slot.n = n
      if (slot.entry !== undefined) this.#board.touch(slot.entry)
    }
  }
}

interface Drawn {
  readonly event: TranscriptEvent
  readonly block: JsonObject
  readonly place: Place
  readonly key: string
  readonly isRetracted: boolean
}

function drawBlock({ event, block, place, key, isRetracted }: Drawn): Row | undefined {
  const base = { key, headSeq: place.seq, lastSeq: place.seq, lane: place.lane, at: event.at }
  const state = isRetracted ? "retracted" : "done"
  switch (block["type"]) {
    case "text": {
      const text = textOf(block, "text") ?? ""
      return text === "" ? undefined : { kind: "text", ...base, state, text }
    }
    case "thinking":
    case "redacted_thinking": {
      const durationMs = numberOf(event.message, "thinking_duration_ms")
      const isRedacted = block["type"] === "redacted_thinking"
      return {
        kind: "thinking",
        ...base,
        state,
        text: textOf(block, "thinking") ?? "",
        isRedacted,
        ...given({ durationMs }),
      }
    }
    case "image":
      return { kind: "picture", ...base, picture: pictureOf(block) }
    default:
      return { kind: "unknown", ...base, name: `block ${textOf(block, "type") ?? "without a type"}`, message: block }
  }
}
