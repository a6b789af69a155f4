import { type Envelope, fieldOf, isObject, textOf } from "@signalbox/protocol"
import { oneLine } from "../model/event.ts"

const LAST_LINE_CHARS = 200

/** The first sentence of what the agent said last: how a text begins says what it is about, where its last line may be half a list. */
export function lastLineOf(message: Envelope): string | undefined {
  const content = fieldOf(message, "message")?.["content"]
  const text = textIn(Array.isArray(content) ? content.slice(-1) : content)
  // Only the beginning is looked at: a message may be long, and there may be thousands.
  const said = text.trimStart().slice(0, 4 * LAST_LINE_CHARS)
  const line = said
    .split("\n")
    .map(withoutMarks)
    .find((part) => part !== "")
  if (line === undefined) return undefined
  return oneLine(SENTENCE.exec(line)?.[0] ?? line, LAST_LINE_CHARS)
}

/** Up to the first stop that ends a sentence, and not a version or a file name. */
const SENTENCE = /^.{8,}?[.!?…](?=["'”’)*_]*(?:\s|$))/u

/** The line without what markdown marks it with: a heading's signs, a list's, a fence, emphasis. */
function withoutMarks(line: string): string {
  const bare = line.trim().replace(/^(?:#{1,6}\s+|>\s*|[-*+]\s+|\d{1,3}[.)]\s+|```.*$|[-*_=|]{3,}$)+/u, "")
  return bare.replaceAll(/\*\*|__|`/gu, "").trim()
}

export function textIn(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content
    .map((block) => (isObject(block) && block["type"] === "text" ? (textOf(block, "text") ?? "") : ""))
    .filter((text) => text !== "")
    .join("\n")
}
