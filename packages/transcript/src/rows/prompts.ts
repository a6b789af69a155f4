import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { Board } from "./board.ts"
import { contentPictures, contentText, type Entry, given, type Place } from "./entry.ts"
import type { Delivery, PromptRow, TranscriptEvent } from "./row.ts"

/** One of the two events is there at least. */
interface Prompt {
  /** The message where it was sent, the earliest that is loaded. */
  sent: TranscriptEvent | undefined
  /** The hub's note that the agent took it up later, behind other things that it said. */
  taken: TranscriptEvent | undefined
  readonly entry: Entry
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

/**
 * Prompts of people and programs. A message and the agent's echo of it have one `uuid`, and are one row. It stands where the agent
 * took it up: one sent in the middle of a turn is read later.
 */
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
    const prompt = this.#prompt(key, place)
    if (event.seq < (prompt.sent?.seq ?? Number.POSITIVE_INFINITY)) {
      prompt.sent = event
      if (prompt.taken === undefined) this.#board.move(prompt.entry, place)
    }
    this.delivered(key, event.seq, event.message["isReplay"] === true ? "delivered" : "sent")
  }

  /** The hub's note tells the text again: the message may stand far above, in a part that is not loaded. */
  taken(event: TranscriptEvent): void {
    const key = textOf(event.message, "message_uuid")
    if (key === undefined) return
    const place = { seq: event.seq, pos: 0, lane: null }
    const prompt = this.#prompt(key, place)
    prompt.taken = event
    this.#board.move(prompt.entry, place)
    const told = this.#words.get(key)?.state
    // The agent's own word, if it gave one, says more.
    this.delivered(key, event.seq, told === "started" || told === "completed" ? told : "delivered")
  }

  #prompt(key: string, place: Place): Prompt {
    const known = this.#prompts.get(key)
    if (known !== undefined) return known
    const entry = this.#board.add(place, () => this.#draw(key))
    const prompt: Prompt = { sent: undefined, taken: undefined, entry }
    this.#prompts.set(key, prompt)
    return prompt
  }

  /** The newest word counts. */
  delivered(uuid: string, seq: number, state: Delivery): void {
    if ((this.#words.get(uuid)?.seq ?? Number.NEGATIVE_INFINITY) <= seq) this.#words.set(uuid, { seq, state })
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
    // A viewer that comes in later was not told that it was started; but a turn began behind it.
    const seq = this.#prompts.get(uuid)?.sent?.seq ?? Number.POSITIVE_INFINITY
    return state === "started" || state === "delivered" || seq < this.#lastTurn
  }

  #draw(key: string): PromptRow | undefined {
    const prompt = this.#prompts.get(key)
    if (prompt === undefined) return undefined
    const { sent, taken, entry } = prompt
    const word = this.#words.get(key)
    const content = sent === undefined ? undefined : fieldOf(sent.message, "message")?.["content"]
    const event = taken ?? sent
    return {
      kind: "prompt",
      key: `e:${key}`,
      headSeq: entry.seq,
      lastSeq: Math.max(entry.seq, Math.floor(word?.seq ?? 0)),
      lane: entry.lane,
      at: event?.at ?? "",
      text: sent === undefined ? (textOf(taken?.message, "text") ?? "") : contentText(content),
      pictures: contentPictures(content),
      delivery: word?.state ?? "sent",
      ...given({
        sentSeq: taken === undefined ? undefined : sent?.seq,
        author: sent?.by ?? taken?.by,
        uuid: textOf(sent?.message, "uuid") ?? textOf(taken?.message, "message_uuid"),
      }),
    }
  }
}

function isDelivery(state: string): state is Delivery {
  return DELIVERIES.has(state)
}
