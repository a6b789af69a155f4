import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Outgoing } from "./outgoing.ts"

/**
 * What was written and is not known to be with the hub, kept in the browser: a reload must not lose it. One entry for each
 * message, as other tabs have theirs.
 */
const PREFIX = "signalbox:unsent:"
const MAX_CHARS = 500_000
/** The oldest go first. */
const MAX_MESSAGES = 50

type Message = Omit<Outgoing, "state">

const GONE = "It was not sent before the page was closed."
const WITHOUT_PICTURES = `${GONE} Its pictures were too large to be kept: Discard it, and add them again.`

/** What a browser's `Storage` has of it. */
export type UnsentPlace = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">

export function keepUnsent(session: string, message: Message, place?: UnsentPlace): void {
  attempt(place, (storage) => {
    const at = Date.now()
    const whole = JSON.stringify({ ...message, at })
    const isWhole = whole.length <= MAX_CHARS
    const kept = isWhole
      ? whole
      : JSON.stringify({ ...message, content: message.text.slice(0, MAX_CHARS), at, isCut: true })
    storage.setItem(keyOf(session, message.uuid), kept)
    const all = entriesIn(storage, PREFIX).toSorted((a, b) => a.at - b.at)
    for (const { key } of all.slice(0, Math.max(0, all.length - MAX_MESSAGES))) storage.removeItem(key)
  })
}

export function forgetUnsent(session: string, uuid: string, place?: UnsentPlace): void {
  attempt(place, (storage) => storage.removeItem(keyOf(session, uuid)))
}

/** In the order in which they were written. */
export function readUnsent(session: string, place?: UnsentPlace): readonly Outgoing[] {
  const found: Outgoing[] = []
  attempt(place, (storage) => {
    const own = entriesIn(storage, `${PREFIX}${session}:`).toSorted((a, b) => a.at - b.at)
    for (const { value } of own) {
      const message = messageIn(value)
      if (message !== undefined) found.push(message)
    }
  })
  return found
}

function keyOf(session: string, uuid: string): string {
  return `${PREFIX}${session}:${uuid}`
}

/** A browser can be told to keep nothing: then it stays for as long as the page lives. */
function attempt(place: UnsentPlace | undefined, run: (storage: UnsentPlace) => void): void {
  try {
    run(place ?? localStorage)
  } catch {
    // Nothing more can be done.
  }
}

function entriesIn(storage: UnsentPlace, prefix: string) {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "")
  return keys
    .filter((key) => key.startsWith(prefix))
    .map((key) => {
      const value = parsed(storage.getItem(key))
      const at = isObject(value) ? value["at"] : undefined
      return { key, value, at: typeof at === "number" ? at : 0 }
    })
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "null")
  } catch {
    return undefined
  }
}

function messageIn(value: unknown): Outgoing | undefined {
  if (!isObject(value)) return undefined
  const [uuid, text, content] = [textOf(value, "uuid"), textOf(value, "text"), value["content"]]
  if (uuid === undefined || text === undefined || (typeof content !== "string" && !Array.isArray(content)))
    return undefined
  const why = value["isCut"] === true ? WITHOUT_PICTURES : GONE
  const priority = value["priority"] === "now" ? { priority: "now" as const } : {}
  return { uuid, text, content, ...priority, state: { name: "not-sent", why } }
}
