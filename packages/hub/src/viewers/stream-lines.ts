import type { SessionView } from "../core.ts"
import type { Ask, PublicAsk } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import type { Published } from "../session/pipeline.ts"

/** An event as JSON text: the agent's line is put in as it was received, never encoded again. */
export function eventFields(event: StoredEvent): string {
  const by = event.by === undefined ? "" : `,"by":${JSON.stringify(event.by)}`
  const at = new Date(event.at).toISOString()
  return `"seq":${event.seq},"at":"${at}","from":"${event.from}"${by},"message":${event.line}`
}

export function eventLine(sessionId: string, event: StoredEvent): string {
  return `{"ev":"event","session":${JSON.stringify(sessionId)},${eventFields(event)}}`
}

export function deltaLine(sessionId: string, line: string): string {
  return `{"ev":"delta","session":${JSON.stringify(sessionId)},"message":${line}}`
}

const texts = new WeakMap<Published, string>()

/** Made once, however many viewers there are. */
export function publishedLine(sessionId: string, item: Published): string {
  const known = texts.get(item)
  if (known !== undefined) return known
  const text = item.kind === "event" ? eventLine(sessionId, item.event) : deltaLine(sessionId, item.line)
  texts.set(item, text)
  return text
}

export function askLine(ask: Ask): string {
  return JSON.stringify({ ev: "ask", ask: publicAsk(ask) })
}

export function changedLine(view: SessionView): string {
  return JSON.stringify({ ev: "changed", session: view.id, record: view })
}

export function publicAsk(ask: Ask): PublicAsk {
  const { incarnation: _process, toolUseId: _tool, answerId: _answer, ...rest } = ask
  return rest
}
