import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Board } from "./board.ts"
import { baseOf, byPlace, Entry, given, numberOf, type Place, pictureOf } from "./entry.ts"
import type { JsonObject, Row, RowBase, TextRow, TranscriptEvent } from "./row.ts"

/** A block's place among those of its message. The entry is absent where a tool's own row shows it. */
interface Slot extends Place {
  n: number
  entry?: Entry
}

/** The agent's words, block by block. Blocks of one message come one by one and share its id. */
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

  /** Tells the number of a block that a tool's row shows, within its message. */
  count(messageId: string, place: Place): number {
    return this.#slot(messageId, place).n
  }

  #slot(messageId: string, place: Place): Slot {
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
    const slot = id === undefined ? undefined : this.#slot(id, place)
    const uuid = textOf(message, "uuid")
    const keyOf = () => (slot === undefined ? `e:${uuid ?? event.seq}:${place.pos}` : `b:${id}:${slot.n}`)
    const isRetracted = () => uuid !== undefined && this.#retracted.has(uuid)
    const draw = () => drawSaid({ event, block, place, key: keyOf(), isRetracted: isRetracted() })
    const entry = this.#board.add(place, draw)
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

interface Said {
  readonly event: TranscriptEvent
  readonly block: JsonObject
  readonly place: Place
  readonly key: string
  readonly isRetracted: boolean
}

function drawSaid({ event, block, place, key, isRetracted }: Said): Row | undefined {
  const base = { ...baseOf(event, place.lane), key }
  if (isSpoken(block)) {
    const durationMs = numberOf(event.message, "thinking_duration_ms")
    return drawSpoken(block, base, { state: isRetracted ? "retracted" : "done", text: spokenText(block), durationMs })
  }
  if (block["type"] === "image") return { kind: "picture", ...base, picture: pictureOf(block) }
  return { kind: "unknown", ...base, name: `block ${textOf(block, "type") ?? "without a type"}`, message: block }
}

interface Spoken {
  readonly state: TextRow["state"]
  readonly text: string
  readonly durationMs?: number | undefined
  readonly tokens?: number | undefined
}

function drawSpoken({ type }: JsonObject, base: RowBase, { state, text, ...counts }: Spoken): Row | undefined {
  if (type === "text") return text === "" ? undefined : { kind: "text", ...base, state, text }
  return { kind: "thinking", ...base, state, text, isRedacted: type === "redacted_thinking", ...given(counts) }
}

function isSpoken({ type }: JsonObject): boolean {
  return type === "text" || type === "thinking" || type === "redacted_thinking"
}

function spokenText(block: JsonObject | undefined): string {
  return textOf(block, "text") ?? textOf(block, "thinking") ?? ""
}

/** A block that uses a tool. */
export function isCall({ type }: JsonObject): boolean {
  return type === "tool_use" || type === "server_tool_use" || type === "mcp_tool_use"
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
  /** The agent that tells it is away: what is known of it stays until something takes its place. */
  isStale: boolean
}

/** Messages in progress, per speaker. A block has the keys that it will have once it is said, so that nothing jumps. */
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

  /** Nobody goes on with what began before that event; without one, with whatever is being said. */
  interrupted(seq = Number.POSITIVE_INFINITY): void {
    for (const [lane, speech] of this.#speeches) {
      if (speech.after >= seq) continue
      speech.isStale = true
      for (const { entry } of speech.blocks.values()) entry.fade()
      this.#show(lane)
    }
  }

  #begin(lane: string | null, messageId: string, after: number): void {
    this.end(lane)
    this.#speeches.set(lane, { messageId, after, blocks: new Map(), isStale: false })
  }

  #open(lane: string | null, event: JsonObject): void {
    const speech = this.#speeches.get(lane)
    const [index, block] = [event["index"], fieldOf(event, "content_block")]
    if (speech === undefined || speech.isStale || typeof index !== "number" || block === undefined) return
    // A viewer who comes in mid-sentence is told it from its beginning, with the blocks that the log already has.
    if (index < this.#saidOf(speech.messageId)) return
    const type = textOf(block, "type") ?? ""
    const place = { seq: speech.after + 1, pos: index, lane }
    const entry = new Entry(place, () => drawLive(speech, live, entry))
    const live: LiveBlock = { index, type, block, text: spokenText(block), entry }
    speech.blocks.set(index, live)
    this.#show(lane)
  }

  #grow(lane: string | null, event: JsonObject): void {
    const index = event["index"]
    const speech = this.#speeches.get(lane)
    // Some of it may have been missed meanwhile: it is told again from its beginning, or whole.
    const block = typeof index === "number" && speech?.isStale === false ? speech.blocks.get(index) : undefined
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

function drawLive(
  { messageId, isStale }: Speech,
  { block, index, text, tokens }: LiveBlock,
  entry: Entry,
): Row | undefined {
  const { seq, lane } = entry
  const base = { key: `b:${messageId}:${index}`, headSeq: seq, lastSeq: seq, lane, at: "" }
  if (isSpoken(block)) return drawSpoken(block, base, { state: isStale ? "stale" : "live", text, tokens })
  if (!isCall(block)) return undefined
  const [toolUseId, name] = [textOf(block, "id") ?? "", textOf(block, "name") ?? ""]
  const facts = { toolUseId, name, input: firstField(text), hasCall: true, hasLane: false, isRetracted: false }
  return { kind: "tool", ...base, key: `t:${toolUseId}`, state: "live", ...facts }
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
