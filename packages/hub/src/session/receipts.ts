import { type Envelope, fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { AskDesk } from "../asks/ask-desk.ts"
import type { MessageDesk } from "./message-desk.ts"

export interface Receivers {
  /** The process that said it. */
  readonly incarnation: string | undefined
  readonly messages: MessageDesk
  readonly asks: AskDesk
}

/** What an agent's event tells of what it was sent: a turn that begins has its messages, a tool that ran had its answer. */
export function takeReceipts(message: Envelope, { incarnation, messages, asks }: Receivers): void {
  if (message.type === "system" && message["subtype"] === "init") messages.confirmSent(incarnation)
  if (incarnation === undefined) return
  if (message.type === "result") asks.confirm(incarnation, undefined)
  if (message.type === "user") for (const id of toolResultsIn(message)) asks.confirm(incarnation, id)
}

function toolResultsIn(message: Envelope): readonly string[] {
  const content = fieldOf(message, "message")?.["content"]
  if (!Array.isArray(content)) return []
  return content.flatMap((block) => {
    const id = isObject(block) && block["type"] === "tool_result" ? textOf(block, "tool_use_id") : undefined
    return id === undefined ? [] : [id]
  })
}
