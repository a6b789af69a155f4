import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Board } from "./board.ts"
import { contentPictures, contentText, type Entry, given, type Place } from "./entry.ts"
import type { Delivery, PromptRow, TranscriptEvent } from "./row.ts"

interface Prompt {
  first: TranscriptEvent
  entry: Entry
}

/** The newest word on a message, whether or not the message itself is loaded. */
interface Word {
  readonly seq: number
  readonly state: Delivery
}

const DELIVERIES: ReadonlySet<string> = new Set<Delivery>([
  "queued",
  "started",
  "completed",
  "cancelled",
  "discarded",
  "refused",
])

/** What people and programs said. A message and the agent's echo of it have one `uuid`, and are one row. */
export class PromptTable {
  readonly #board: Board
  readonly #prompts = new Map<string, Prompt>()
  readonly #words = new Map<string, Word>()
  /** Where the last turn that is loaded began. */
  #lastTurn = 0

  constructor(board: Board) {
    this.#board = board
  }

  add(event: TranscriptEvent, place: Place): void {
    const key = textOf(event.message, "uuid") ?? String(event.seq)
    const known = this.#prompts.get(key)
    if (known === undefined) {
      this.#prompts.set(key, { first: event, entry: this.#board.add(place, () => this.#draw(key)) })
    } else if (event.seq < known.first.seq) {
      known.first = event
      this.#board.move(known.entry, place)
    }
    this.delivered(key, event.seq, event.message["isReplay"] === true ? "delivered" : "sent")
  }

  /** The newest word counts. */
  delivered(uuid: string, seq: number, state: Delivery): void {
    if ((this.#words.get(uuid)?.seq ?? 0) <= seq) this.#words.set(uuid, { seq, state })
    const prompt = this.#prompts.get(uuid)
    if (prompt !== undefined) this.#board.touch(prompt.entry)
  }

  turnBegan(seq: number): void {
    this.#lastTurn = Math.max(this.#lastTurn, seq)
  }

  /** Told live by the agent, of a message that waits or is being worked on. */
  lifecycle(uuid: string, state: string, seq: number): void {
    if (isDelivery(state))
      this.delivered(uuid, seq, this.#wasBegun(uuid) && state === "cancelled" ? "delivered" : state)
  }

  /** An interrupted turn is told in the same word as a message that was withdrawn; but this one had been read. */
  #wasBegun(uuid: string): boolean {
    const state = this.#words.get(uuid)?.state
    // A queued message waits behind another: the turn that began since is the other's.
    if (state === "cancelled" || state === "queued") return false
    // Whoever comes in later was not told that it was started; but a turn began behind it.
    const seq = this.#prompts.get(uuid)?.first.seq ?? Number.POSITIVE_INFINITY
    return state === "started" || state === "delivered" || seq < this.#lastTurn
  }

  #draw(key: string): PromptRow | undefined {
    const prompt = this.#prompts.get(key)
    if (prompt === undefined) return undefined
    const { first, entry } = prompt
    const word = this.#words.get(key)
    const content = fieldOf(first.message, "message")?.["content"]
    return {
      kind: "prompt",
      key: `e:${key}`,
      headSeq: entry.seq,
      lastSeq: Math.max(entry.seq, Math.floor(word?.seq ?? 0)),
      lane: entry.lane,
      at: first.at,
      text: contentText(content),
      pictures: contentPictures(content),
      delivery: word?.state ?? "sent",
      ...given({ author: first.by, uuid: textOf(first.message, "uuid") }),
    }
  }
}

function isDelivery(state: string): state is Delivery {
  return DELIVERIES.has(state)
}
