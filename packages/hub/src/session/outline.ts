import { type Envelope, fieldOf, isObject, isQuestion, textOf } from "@signalbox/protocol"
import type { OutlineMark } from "@signalbox/protocol/hub-api"
import type { StoredEvent } from "../model/event.ts"
import { oneLine, wireObject } from "../model/event.ts"

const LABEL_CHARS = 120
/** Most lines are none of these, and to know that they need not be parsed. */
const MAY_MATTER = /"type"\s*:\s*"(?:user|control_request|result|system)"/

/** The places in a session that somebody would jump to. */
export function markOf(event: StoredEvent): OutlineMark | undefined {
  if (!MAY_MATTER.test(event.line)) return undefined
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
      const subtype = textOf(request, "subtype") ?? ""
      // Agents also ask their host for hooks and servers: no person is asked by that.
      if (event.from !== "agent" || !isQuestion(subtype)) return undefined
      return mark("ask", textOf(request, "tool_name") ?? textOf(request, "mcp_server_name") ?? subtype)
    }
    case "result": {
      const subtype = textOf(message, "subtype") ?? "result"
      const isError = message["is_error"] === true || subtype !== "success"
      return mark(isError && !isInterrupted(message) ? "error" : "result", textOf(message, "result") ?? subtype)
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

/** Somebody stopped it: that is no failure. The oldest CLIs tell it by an error that is none. */
function isInterrupted(message: Envelope): boolean {
  if (textOf(message, "terminal_reason")?.startsWith("aborted_") === true) return true
  return message["subtype"] === "error_during_execution" && message["is_error"] === false
}

function promptText(message: Envelope): string {
  const content = fieldOf(message, "message")?.["content"]
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content.map((block) => (isObject(block) ? (textOf(block, "text") ?? "") : "")).join(" ")
}
