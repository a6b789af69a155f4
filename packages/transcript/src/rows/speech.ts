import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Board } from "./board.ts"
import { byPlace, Entry, given, numberOf, type Place, pictureOf } from "./entry.ts"
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

interface LiveBlock {
  readonly index: number
  readonly type: string
  readonly block: JsonObject
  text: string
  tokens?: number
  readonly entry: Entry
}

/** One message in progress. `after`: the last event when it began. */
interface Speech {
  readonly messageId: string
  readonly after: number
  readonly blocks: Map<number, LiveBlock>
}

/** What is being said now, per speaker. It has the keys that it will have when it is said: nothing jumps when it is. */
export class LiveSpeech {
  readonly #board: Board
  readonly #saidOf: (messageId: string) => number
  readonly #speeches = new Map<string | null, Speech>()

  /** `saidOf`: how many blocks of a message the log has. */
  constructor(board: Board, saidOf: (messageId: string) => number) {
    this.#board = board
    this.#saidOf = saidOf
  }

  /** A `stream_event`. */
  take(message: JsonObject, after: number): void {
    const event = fieldOf(message, "event")
    const lane = textOf(message, "parent_tool_use_id") ?? null
    switch (event?.["type"]) {
      case "message_start":
        return this.#begin(lane, textOf(fieldOf(event, "message"), "id") ?? "", after)
      case "content_block_start":
        return this.#open(lane, event)
      case "content_block_delta":
        return this.#grow(lane, event)
      case "message_stop":
        return this.end(lane)
      default:
        return
    }
  }

  thinking(tokens: number): void {
    const block = [...(this.#speeches.get(null)?.blocks.values() ?? [])].findLast(({ type }) => type === "thinking")
    if (block === undefined) return
    block.tokens = tokens
    block.entry.fade()
    this.#show(null)
  }

  /** A block is said: the log has it. */
  said(lane: string | null, messageId: string, said: { readonly n: number; readonly type: string }): void {
    const speech = this.#speeches.get(lane)
    if (speech === undefined || speech.messageId !== messageId) return
    const same = speech.blocks.get(said.n)
    const block = same?.type === said.type ? same : [...speech.blocks.values()].find(({ type }) => type === said.type)
    if (block === undefined) return
    speech.blocks.delete(block.index)
    this.#show(lane)
  }

  /** Ends what began before that event; without one, whatever is being said. */
  end(lane: string | null, seq = Number.POSITIVE_INFINITY): void {
    const speech = this.#speeches.get(lane)
    if (speech === undefined || speech.after >= seq) return
    this.#speeches.delete(lane)
    this.#board.lane(lane).setLive([])
  }

  endAll(seq?: number): void {
    for (const lane of this.#speeches.keys()) this.end(lane, seq)
  }

  #begin(lane: string | null, messageId: string, after: number): void {
    this.end(lane)
    this.#speeches.set(lane, { messageId, after, blocks: new Map() })
  }

  #open(lane: string | null, event: JsonObject): void {
    const speech = this.#speeches.get(lane)
    const [index, block] = [event["index"], fieldOf(event, "content_block")]
    if (speech === undefined || typeof index !== "number" || block === undefined) return
    // Whoever comes in mid-sentence is told it from its beginning, with what of it was said whole.
    if (index < this.#saidOf(speech.messageId)) return
    const type = textOf(block, "type") ?? ""
    const text = textOf(block, "text") ?? textOf(block, "thinking") ?? ""
    const place = { seq: speech.after + 1, pos: index, lane }
    const entry = new Entry(place, () => drawLive(speech, live, entry))
    const live: LiveBlock = { index, type, block, text, entry }
    speech.blocks.set(index, live)
    this.#show(lane)
  }

  #grow(lane: string | null, event: JsonObject): void {
    const index = event["index"]
    const block = typeof index === "number" ? this.#speeches.get(lane)?.blocks.get(index) : undefined
    const delta = fieldOf(event, "delta")
    const more = textOf(delta, "text") ?? textOf(delta, "thinking") ?? textOf(delta, "partial_json")
    if (block === undefined || more === undefined) return
    block.text += more
    block.entry.fade()
    this.#show(lane)
  }

  #show(lane: string | null): void {
    const blocks = [...(this.#speeches.get(lane)?.blocks.values() ?? [])]
    this.#board.lane(lane).setLive(blocks.map(({ entry }) => entry))
  }
}

function drawLive(speech: Speech, live: LiveBlock, entry: Entry): Row | undefined {
  const key = `b:${speech.messageId}:${live.index}`
  const base = { key, headSeq: entry.seq, lastSeq: entry.seq, lane: entry.lane, at: "" }
  switch (live.type) {
    case "text":
      return live.text === "" ? undefined : { kind: "text", ...base, state: "live", text: live.text }
    case "thinking":
    case "redacted_thinking": {
      const isRedacted = live.type === "redacted_thinking"
      return {
        kind: "thinking",
        ...base,
        state: "live",
        text: live.text,
        isRedacted,
        ...given({ tokens: live.tokens }),
      }
    }
    case "tool_use":
    case "server_tool_use":
    case "mcp_tool_use": {
      const id = textOf(live.block, "id") ?? ""
      const input = firstField(live.text)
      const name = textOf(live.block, "name") ?? ""
      const facts = { toolUseId: id, name, input, hasCall: true, hasLane: false, isRetracted: false }
      return { kind: "tool", ...base, key: `t:${id}`, state: "live", ...facts }
    }
    default:
      return undefined
  }
}

const FIRST_FIELD = /^\s*\{\s*"([^"\\]+)"\s*:\s*("(?:[^"\\]|\\.)*")/
const LOOK_CHARS = 4096

/** The first field of an input that is still being written, once the field is whole. */
function firstField(json: string): JsonObject {
  const [, name, value] = FIRST_FIELD.exec(json.slice(0, LOOK_CHARS)) ?? []
  if (name === undefined || value === undefined) return {}
  try {
    return { [name]: JSON.parse(value) }
  } catch {
    return {}
  }
}
