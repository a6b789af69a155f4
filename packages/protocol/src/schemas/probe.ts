import type { ContentBlock } from "./content.ts"
import type { StreamEventMessage } from "./stream-event.ts"
export function f(b: ContentBlock): string {
  if (b.type === "text") return b.text
  switch (b.type) {
    case "tool_use": return b.name
    case "server_tool_use": return b.id
    case "tool_result": { const c = b.content; if (Array.isArray(c)) for (const x of c) if (x.type === "image") return x.source.type; return "" }
    default: return b.type
  }
}
export function g(m: StreamEventMessage) { if (m.event.type === "content_block_delta" && m.event.delta.type === "text_delta") { const s: string = m.event.delta.text; return s } return "" }
export const w: ContentBlock = { type: "text", text: "x" }
