import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Board } from "./board.ts"
import { Entry, given } from "./entry.ts"
import type { JsonObject, Row } from "./row.ts"

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
