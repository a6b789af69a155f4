import type { SessionView } from "../core.ts"
import { publicAsk } from "../http/public-ask.ts"
import type { Ask } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import { eventFields } from "../model/event-json.ts"
import type { Published } from "../session/pipeline.ts"

export function eventLine(sessionId: string, event: StoredEvent): string {
  return `{"ev":"event","session":${JSON.stringify(sessionId)},${eventFields(event)}}`
}

export function deltaLine(sessionId: string, line: string): string {
  return `{"ev":"delta","session":${JSON.stringify(sessionId)},"message":${line}}`
}

/** Whole lines, ready for a socket, and the last event in them. */
export interface SharedFrame {
  readonly frame: Buffer
  readonly seq: number | undefined
}

const FRAME_CHARS = 256 * 1024
const frames = new WeakMap<readonly Published[], readonly SharedFrame[]>()

/** Put together and encoded once, however many viewers there are. */
export function framesOf(sessionId: string, items: readonly Published[]): readonly SharedFrame[] {
  const known = frames.get(items)
  if (known !== undefined) return known
  const made = [...cutFrames(JSON.stringify(sessionId), items)]
  frames.set(items, made)
  return made
}

function* cutFrames(session: string, items: readonly Published[]): Generator<SharedFrame> {
  let text = ""
  let seq: number | undefined
  for (const item of items) {
    if (item.kind === "event") {
      text += `{"ev":"event","session":${session},${eventFields(item.event)}}\n`
      seq = item.event.seq
    } else {
      text += `{"ev":"delta","session":${session},"message":${item.line}}\n`
    }
    if (text.length < FRAME_CHARS) continue
    yield { frame: Buffer.from(text), seq }
    text = ""
  }
  if (text !== "") yield { frame: Buffer.from(text), seq }
}

export function askLine(ask: Ask): string {
  return JSON.stringify({ ev: "ask", ask: publicAsk(ask) })
}

export function changedLine(view: SessionView): string {
  return JSON.stringify({ ev: "changed", session: view.id, record: view })
}
