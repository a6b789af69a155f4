/** The notes a plain relay adds to the stream. No CLI sends them; a reader of a relay needs them to see an agent go. */
import { type Envelope, textOf } from "../envelope.ts"

export interface RelayStatus {
  readonly agent: "connected" | "disconnected" | "unknown"
  readonly text: string
}

export function readRelayStatus(message: Envelope): RelayStatus | undefined {
  if (message.type !== "status") return undefined
  const text = textOf(message, "text") ?? ""
  if (/\bdisconnected\b/i.test(text)) return { agent: "disconnected", text }
  if (/\bconnected\b/i.test(text)) return { agent: "connected", text }
  return { agent: "unknown", text }
}
