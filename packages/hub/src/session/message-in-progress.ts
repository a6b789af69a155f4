import { type Envelope, fieldOf, textOf } from "@signalbox/protocol"

/** Past this a message is kept no longer; who arrives then sees it whole at its end. */
const MAX_KEPT_CHARS = 4 * 1024 * 1024
/** More than this speak at once only to fill the memory. */
const MAX_SPEAKERS = 100

/** Deltas of one block that follow each other are one part, so that a long sentence is not kept as thousands of lines. */
type Part =
  | { readonly kind: "line"; readonly line: string }
  | {
      readonly kind: "deltas"
      readonly message: Envelope
      readonly index: unknown
      readonly type: string
      readonly field: string
      text: string
    }

interface Speaker {
  readonly parts: Part[]
  chars: number
}

/** What is being said now, per speaker (the agent and each sub-agent): whoever arrives in mid-sentence gets the sentence so far. */
export class MessageInProgress {
  readonly #speakers = new Map<string, Speaker>()

  take(message: Envelope, line: string): void {
    const event = message.type === "stream_event" ? fieldOf(message, "event") : undefined
    if (event === undefined) return
    const name = textOf(message, "parent_tool_use_id") ?? ""
    if (event["type"] === "message_start") this.#begin(name)
    if (event["type"] === "message_stop") return void this.#speakers.delete(name)
    const speaker = this.#speakers.get(name)
    // Somebody who was not heard from the beginning is not quoted from the middle.
    if (speaker === undefined) return
    add(speaker, { event, message, line })
    if (speaker.chars > MAX_KEPT_CHARS) this.#speakers.delete(name)
  }

  #begin(name: string): void {
    if (this.#speakers.size < MAX_SPEAKERS || this.#speakers.has(name)) {
      this.#speakers.set(name, { parts: [], chars: 0 })
    }
  }

  /** Whether somebody is in the middle of a sentence. */
  get isUnderWay(): boolean {
    return this.#speakers.size > 0
  }

  /** A turn's end, or the loss of the agent: nobody is speaking any more. */
  clear(): void {
    this.#speakers.clear()
  }

  /** The lines that tell a newcomer the sentence so far. */
  lines(): readonly string[] {
    return [...this.#speakers.values()].flatMap((speaker) => speaker.parts.map(lineOf))
  }
}

interface Heard {
  readonly event: Readonly<Record<string, unknown>>
  readonly message: Envelope
  readonly line: string
}

function add(speaker: Speaker, { event, message, line }: Heard): void {
  const delta = deltaOf(event)
  const last = speaker.parts.at(-1)
  if (delta === undefined) {
    speaker.parts.push({ kind: "line", line })
    speaker.chars += line.length
    return
  }
  const continues = last?.kind === "deltas" && last.index === event["index"] && last.type === delta.type
  // The first of a block is kept whole, whatever it carries beside its text.
  speaker.chars += continues ? delta.text.length : line.length
  if (continues) last.text += delta.text
  else speaker.parts.push({ kind: "deltas", message, index: event["index"], ...delta })
}

function lineOf(part: Part): string {
  if (part.kind === "line") return part.line
  const event = { ...fieldOf(part.message, "event"), delta: { type: part.type, [part.field]: part.text } }
  return JSON.stringify({ ...part.message, event })
}

const TEXT_FIELDS: Readonly<Record<string, string>> = {
  text_delta: "text",
  thinking_delta: "thinking",
  input_json_delta: "partial_json",
}

function deltaOf(event: Readonly<Record<string, unknown>>): { type: string; field: string; text: string } | undefined {
  if (event["type"] !== "content_block_delta") return undefined
  const delta = fieldOf(event, "delta")
  const type = textOf(delta, "type") ?? ""
  const field = TEXT_FIELDS[type]
  const text = field === undefined ? undefined : textOf(delta, field)
  return field === undefined || text === undefined ? undefined : { type, field, text }
}
