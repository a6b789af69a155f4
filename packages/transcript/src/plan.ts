import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import type { TranscriptEvent } from "./row.ts"

/** How many events before a request its call is looked for: other agents may have spoken between. */
export const PLAN_EVENTS = 100

/**
 * The plan that stands in the call itself. A CLI asks with the plan of its plan file, and with none where no file was written:
 * then the call is the only place that has it.
 */
export function planInCall(events: readonly TranscriptEvent[], toolUseId: string | undefined): string | undefined {
  if (toolUseId === undefined) return undefined
  for (const { message } of events.toReversed()) {
    const content = message.type === "assistant" ? fieldOf(message, "message")?.["content"] : undefined
    const call = Array.isArray(content)
      ? content.find((block: unknown) => textOf(block, "id") === toolUseId)
      : undefined
    if (call !== undefined) return textOf(fieldOf(call, "input"), "plan")
  }
  return undefined
}
