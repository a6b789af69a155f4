import { isObject, parseJson } from "./envelope.ts"

/** Parses one line; throws as `JSON.parse` does. */
export type LineParser = (line: string) => unknown

/**
 * `JSON.parse` for the lines of one peer, at half its price where it counts: of all that an agent says, most is one delta after
 * another that differ in two strings, the words and the `uuid`. The text around them is remembered, and where a line has
 * the same text around them its message is a copy with these two replaced. Whatever differs in anything else, or has an escape in its
 * words, goes through `JSON.parse`, so that what comes out is the same, order of the keys included. [M13]
 */
export function createLineParser(): LineParser {
  let known: DeltaForm | undefined
  let untilLearning = 1
  return (line) => {
    const delta = known === undefined ? undefined : deltaOf(known, line)
    if (delta !== undefined) {
      untilLearning = MISSES_BEFORE_LEARNING
      return delta
    }
    const value: unknown = JSON.parse(line)
    // Two sub-agents that take turns would have the form learned anew with each line, at the price of two.
    if (isDelta(value) && --untilLearning <= 0) {
      known = learn(line, value) ?? known
      untilLearning = MISSES_BEFORE_LEARNING
    }
    return value
  }
}

const MISSES_BEFORE_LEARNING = 8
/** A longer line is no piece of a sentence, and what is kept of it would be kept as long as the connection. */
const MAX_LEARNED_CHARS = 4096
/** Anything but what stands for itself in a JSON string: all from the space on, without the quote and the backslash. */
const NOT_PLAIN = /[^ !#-[\]-\uffff]/

type Words = "text" | "thinking"

/** The line is `head words mid uuid tail`, or has its `uuid` first. */
interface DeltaForm {
  readonly head: string
  readonly mid: string
  readonly tail: string
  readonly words: Words
  readonly isUuidFirst: boolean
  readonly message: DeltaMessage
}

interface DeltaMessage {
  readonly type: "stream_event"
  readonly uuid: string
  readonly event: { readonly type: string; readonly delta: Readonly<Record<string, unknown>> }
}

function deltaOf(form: DeltaForm, line: string): unknown {
  const { head, mid, tail } = form
  const firstAt = head.length
  // Pieces are cut out and compared: `startsWith` goes character by character and takes longer than parsing.
  if (line.slice(0, firstAt) !== head) return undefined
  const midAt = line.indexOf('"', firstAt)
  const secondAt = midAt + mid.length
  const tailAt = line.length - tail.length
  if (midAt === -1 || tailAt < secondAt) return undefined
  if (line.slice(midAt, secondAt) !== mid || line.slice(tailAt) !== tail) return undefined
  // Joined, they are a text of their own. A piece cut out of the line would keep the line's whole chunk in memory.
  const both = line.slice(firstAt, midAt) + line.slice(secondAt, tailAt)
  if (NOT_PLAIN.test(both)) return undefined
  const first = both.slice(0, midAt - firstAt)
  const second = both.slice(midAt - firstAt)
  return form.isUuidFirst ? copyOf(form, second, first) : copyOf(form, first, second)
}

function copyOf({ message, words }: DeltaForm, said: string, uuid: string): unknown {
  const { event } = message
  const delta = words === "text" ? { ...event.delta, text: said } : { ...event.delta, thinking: said }
  return { ...message, event: { ...event, delta }, uuid }
}

function isDelta(value: unknown): value is DeltaMessage {
  if (!isObject(value) || value["type"] !== "stream_event" || typeof value["uuid"] !== "string") return false
  const { event } = value
  return isObject(event) && event["type"] === "content_block_delta" && isObject(event["delta"])
}

function learn(line: string, message: DeltaMessage): DeltaForm | undefined {
  const { event } = message
  const words = "text" in event.delta ? "text" : "thinking"
  const said = event.delta[words]
  if (line.length > MAX_LEARNED_CHARS || typeof said !== "string" || NOT_PLAIN.test(said + message.uuid))
    return undefined
  if (!isFlat(message, "event") || !isFlat(event, "delta") || !isFlat(event.delta)) return undefined
  const slots = {
    words: { at: endOf(line, `"${words}":"`), text: said },
    uuid: { at: endOf(line, `"uuid":"`), text: message.uuid },
  }
  const isUuidFirst = slots.uuid.at < slots.words.at
  const [first, second] = isUuidFirst ? [slots.uuid, slots.words] : [slots.words, slots.uuid]
  const head = ownText(line.slice(0, first.at))
  const mid = ownText(line.slice(first.at + first.text.length, second.at))
  const tail = ownText(line.slice(second.at + second.text.length))
  if (!mid.startsWith('"') || !tail.startsWith('"')) return undefined
  // The proof: with something else in the two places, exactly these two fields are something else. What it gives is
  // nobody else's object, and the one that copies are made of.
  const probe = parseJson(`${head}${first.text}?${mid}${second.text}?${tail}`)
  if (!isDelta(probe) || probe.event.delta[words] !== `${said}?` || probe.uuid !== `${message.uuid}?`) return undefined
  return { head, mid, tail, words, isUuidFirst, message: probe }
}

/** Copies share what is inside of a field, so that there must be nothing but what is copied itself. */
function isFlat(object: object, but?: string): boolean {
  return Object.entries(object).every(([key, value]) => key === but || value === null || typeof value !== "object")
}

function endOf(line: string, text: string): number {
  const at = line.indexOf(text)
  return at === -1 ? line.length : at + text.length
}

/** The same text, and not as a part of a longer one that would be kept with it. */
function ownText(text: string): string {
  return ` ${text}`.slice(1)
}
