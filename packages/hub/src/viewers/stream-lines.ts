import type { Session } from "@signalbox/protocol/hub-api"
import { briefAsk } from "../asks/whole-ask.ts"
import type { Ask } from "../model/ask.ts"
import { publicAsk } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import { eventFields, eventHead } from "../model/event.ts"
import type { Published } from "../session/history.ts"
import { FRAME_CHARS } from "./outbox.ts"

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

const frames = new WeakMap<readonly Published[], readonly SharedFrame[]>()

/** Put together and encoded once, however many viewers there are. */
export function framesOf(sessionId: string, items: readonly Published[]): readonly SharedFrame[] {
  const known = frames.get(items)
  if (known !== undefined) return known
  const made = [...cutFrames(JSON.stringify(sessionId), items)]
  frames.set(items, made)
  return made
}

/** Pieces that are joined once: text that grows bit by bit would be copied again to become a frame. */
function* cutFrames(session: string, items: readonly Published[]): Generator<SharedFrame> {
  const openEvent = `{"ev":"event","session":${session},`
  const openDelta = `{"ev":"delta","session":${session},"message":`
  let pieces: string[] = []
  let chars = 0
  let seq: number | undefined
  for (const item of items) {
    const line = item.kind === "event" ? item.event.line.trim() : item.line
    if (item.kind === "event") {
      pieces.push(openEvent, eventHead(item.event), MESSAGE, line, CLOSE)
      seq = item.event.seq
    } else {
      pieces.push(openDelta, line, CLOSE)
    }
    chars += line.length
    if (chars < FRAME_CHARS) continue
    yield { frame: Buffer.from(pieces.join("")), seq }
    pieces = []
    chars = 0
  }
  if (pieces.length > 0) yield { frame: Buffer.from(pieces.join("")), seq }
}

const MESSAGE = '"message":'
const CLOSE = "}\n"

/** Made once for each object, however many want it. */
export function onceFor<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, { made: Made }>()
  return (key) => {
    const entry = known.get(key) ?? { made: make(key) }
    known.set(key, entry)
    return entry.made
  }
}

export const askLine = onceFor((ask: Ask) => JSON.stringify({ ev: "ask", ask: publicAsk(briefAsk(ask)) }))

export function changedLine(view: Session): string {
  return JSON.stringify({ ev: "changed", session: view.id, record: view })
}
