import {
  type AgentLine,
  type AgentState,
  type Envelope,
  fieldOf,
  idleAgent,
  isObject,
  stepAgent,
  textOf,
} from "@signalbox/protocol"
import type { AskDesk } from "../asks/ask-desk.ts"
import type { Published } from "./history.ts"
import type { MessageDesk } from "./message-desk.ts"

/** What a session's events, as they are published, tell of its agent: what it is doing, and what it has got. */
/** Nothing that was being said before it goes on. Other events, such as those about background tasks, come in the middle of a sentence. */
export function endsSentence(message: Envelope): boolean {
  return SENTENCE_ENDS.has(message.type) || (message.type === "system" && message["subtype"] === "init")
}

const SENTENCE_ENDS: ReadonlySet<string> = new Set(["assistant", "user", "result"])

export class AgentProgress {
  readonly inProgress = new MessageInProgress()
  readonly #messages: MessageDesk
  readonly #asks: AskDesk
  /** By which process a line was said, where that is not the one that is here. */
  readonly #others = new WeakMap<Envelope, string>()
  state: AgentState = idleAgent

  constructor(messages: MessageDesk, asks: AskDesk) {
    this.#messages = messages
    this.#asks = asks
  }

  saidByOther(message: Envelope, incarnation: string): void {
    this.#others.set(message, incarnation)
  }

  /** The process that said it, where that is not the one that is here. */
  otherOf(message: Envelope): string | undefined {
    return this.#others.get(message)
  }

  /** `here`: the process that is here. True when it is in another phase than before. */
  follow(item: Published, here: string | undefined): boolean {
    const { message } = item
    const { phase } = this.state
    if (item.kind === "delta") {
      this.inProgress.take(message, item.line)
      this.#step({ from: "agent", message })
    } else if (item.event.from === "agent") this.#followAgent(message, here)
    else if (item.event.from === "client" && message.type === "user") this.#step({ from: "host", message })
    return this.state.phase !== phase
  }

  #followAgent(message: Envelope, here: string | undefined): void {
    const other = this.#others.get(message)
    // Lines of another process tell nothing about the one that is here. Open questions are asks, which outlive the hub.
    const isHeard = other === undefined || here === undefined
    if (isHeard && message.type !== "control_request") this.#step({ from: "agent", message })
    if (message.type === "result" && other === undefined) this.inProgress.clear()
    this.#takeReceipts(message, other ?? here)
  }

  /** What an agent's event tells of what it was sent: a turn that begins has its messages, a tool that ran had its answer. */
  #takeReceipts(message: Envelope, incarnation: string | undefined): void {
    if (message.type === "system" && message["subtype"] === "init") this.#messages.confirmSent(incarnation)
    if (incarnation === undefined) return
    if (message.type === "result") this.#asks.confirm(incarnation, undefined)
    if (message.type === "user") for (const id of toolResultsIn(message)) this.#asks.confirm(incarnation, id)
  }

  #step(line: AgentLine): void {
    this.state = stepAgent(this.state, line)
  }
}

function toolResultsIn(message: Envelope): readonly string[] {
  const content = fieldOf(message, "message")?.["content"]
  if (!Array.isArray(content)) return []
  return content.flatMap((block) => {
    const id = isObject(block) && block["type"] === "tool_result" ? textOf(block, "tool_use_id") : undefined
    return id === undefined ? [] : [id]
  })
}

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
