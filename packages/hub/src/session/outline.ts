import { type Envelope, fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { OutlineMark } from "../core.ts"
import type { StoredEvent } from "../model/event.ts"
import { oneLine } from "../model/one-line.ts"
import { wireObject } from "../model/wire-object.ts"

const LABEL_CHARS = 120

/** The places in a session that somebody would jump to. */
export function markOf(event: StoredEvent): OutlineMark | undefined {
  const message = wireObject(event.line)
  if (message === undefined) return undefined
  const mark = (kind: OutlineMark["kind"], label: string) => ({
    seq: event.seq,
    kind,
    label: oneLine(label, LABEL_CHARS),
  })
  switch (message.type) {
    case "user":
      return event.from === "client" ? mark("prompt", promptText(message)) : undefined
    case "control_request": {
      const request = fieldOf(message, "request")
      const name = textOf(request, "tool_name") ?? textOf(request, "subtype") ?? "request"
      return event.from === "agent" ? mark("ask", name) : undefined
    }
    case "result": {
      const subtype = textOf(message, "subtype") ?? "result"
      const isError = message["is_error"] === true || subtype !== "success"
      return mark(isError ? "error" : "result", textOf(message, "result") ?? subtype)
    }
    case "system":
      if (message["subtype"] === "compact_boundary") return mark("compaction", "The conversation was compacted")
      return message["subtype"] === "api_retry"
        ? mark("error", "The model's service failed and is tried again")
        : undefined
    default:
      return undefined
  }
}

function promptText(message: Envelope): string {
  const content = fieldOf(message, "message")?.["content"]
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content.map((block) => (isObject(block) ? (textOf(block, "text") ?? "") : "")).join(" ")
}
