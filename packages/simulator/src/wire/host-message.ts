import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import type { Priority, QueuedMessage } from "./message-queue.ts"

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
  const body = isObject(message["message"]) ? message["message"] : {}
  const content = body["content"]
  const uuid = textOf(message, "uuid")
  const timestamp = textOf(message, "timestamp")
  return {
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
    sent: content,
    text: textOfContent(content),
    priority: knowsPriority ? priorityOf(message["priority"]) : "next",
    isQuery: !knowsPriority || message["shouldQuery"] !== false,
    ...(knowsPriority && message["client_composed"] === true ? { isVerbatim: true } : {}),
    ...(uuid === undefined ? {} : { uuid }),
    ...(timestamp === undefined ? {} : { timestamp }),
  }
}

function priorityOf(value: unknown): Priority {
  return value === "now" || value === "later" ? value : "next"
}

function textOfContent(content: unknown): string {
  if (typeof content === "string") return content
  return Array.isArray(content) ? content.flatMap((block) => textOf(block, "text") ?? []).join("\n") : ""
}
