import { defined, fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { remember } from "../json.ts"
import type { Fields } from "../profiles/profile.ts"

/** A message of the host's, or of the agent's own (a task that ended), that waits for its turn. */
export interface QueuedMessage {
  readonly content: unknown
  /** The content in the form in which the host sent it: echoes have that. */
  readonly sent: unknown
  readonly text: string
  readonly uuid?: string
  readonly priority: "now" | "next" | "later"
  readonly isQuery: boolean
  /** A text that looks like a command is none. */
  readonly isVerbatim?: boolean
  /** A task that ended speaks for itself: the turn it starts tells where it comes from. */
  readonly origin?: Fields
}

/** The messages that a turn begins with: one, or all that may share it. */
export type Batch = readonly [QueuedMessage, ...QueuedMessage[]]

const MAX_SEEN_UUIDS = 10_000

/** Messages that wait. Pure bookkeeping: it starts nothing. */
export class MessageQueue {
  #waiting: QueuedMessage[] = []
  readonly #seen = new Map<string, true>()

  /** False for a message whose uuid was there before: it starts no second turn. */
  add(message: QueuedMessage): boolean {
    if (message.uuid !== undefined) {
      if (this.#seen.has(message.uuid)) return false
      remember(this.#seen, message.uuid, true, MAX_SEEN_UUIDS)
    }
    if (message.priority === "now") this.#waiting.unshift(message)
    else this.#waiting.push(message)
    return true
  }

  get length(): number {
    return this.#waiting.length
  }

  uuids(): string[] {
    return this.#waiting.flatMap(({ uuid }) => uuid ?? [])
  }

  /** The next turn's messages. Messages of the agent's own and those that ask for nothing stay by themselves. */
  take(merges: boolean): Batch | undefined {
    const first = this.#waiting.shift()
    if (first === undefined) return undefined
    const batch: [QueuedMessage, ...QueuedMessage[]] = [first]
    if (!merges) return batch
    while (this.#shares(first)) batch.push(...this.#waiting.splice(0, 1))
    return batch
  }

  /** Messages that came while a tool was running join the turn, with the tool's result. */
  takeForTurn(): QueuedMessage[] {
    const joining = this.#waiting.filter((message) => message.isQuery && message.origin === undefined)
    this.#waiting = this.#waiting.filter((message) => !joining.includes(message))
    return joining
  }

  cancel(uuid: string): boolean {
    const before = this.#waiting.length
    this.#waiting = this.#waiting.filter((message) => message.uuid !== uuid)
    return this.#waiting.length < before
  }

  clear(): QueuedMessage[] {
    const cleared = this.#waiting
    this.#waiting = []
    return cleared
  }

  #shares(first: QueuedMessage): boolean {
    const next = this.#waiting[0]
    const plain = ({ isQuery, origin, text, isVerbatim }: QueuedMessage) =>
      isQuery && origin === undefined && (!text.startsWith("/") || isVerbatim === true)
    return next !== undefined && plain(first) && plain(next) && first.priority !== "now"
  }
}

/** A line of the host's, read as a CLI reads it. */
export type HostLine =
  | { kind: "message"; message: Readonly<Fields> }
  | { kind: "blank" }
  | { kind: "malformed"; error: string }

export function readHostLine(line: string): HostLine {
  if (line.trim() === "") return { kind: "blank" }
  try {
    const message: unknown = JSON.parse(line)
    return isObject(message) ? { kind: "message", message } : { kind: "malformed", error: "not an object" }
  } catch (error) {
    return { kind: "malformed", error: String(error) }
  }
}

export function readUserMessage(message: Readonly<Fields>, knowsPriority: boolean): QueuedMessage {
  const content = fieldOf(message, "message")?.["content"]
  const { priority } = message
  return {
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
    sent: content,
    text: textOfContent(content),
    priority: knowsPriority && (priority === "now" || priority === "later") ? priority : "next",
    isQuery: !knowsPriority || message["shouldQuery"] !== false,
    ...(knowsPriority && message["client_composed"] === true ? { isVerbatim: true } : {}),
    ...defined({ uuid: textOf(message, "uuid") }),
  }
}

function textOfContent(content: unknown): string {
  if (typeof content === "string") return content
  return Array.isArray(content) ? content.flatMap((block) => textOf(block, "text") ?? []).join("\n") : ""
}
