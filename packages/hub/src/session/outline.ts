import { setImmediate as nextTurn } from "node:timers/promises"
import { type Envelope, fieldOf, isObject, isQuestion, textOf } from "@signalbox/protocol"
import type { OutlineMark } from "@signalbox/protocol/hub-api"
import { oneLine, type StoredEvent, wireObject } from "../model/event.ts"
import type { EventLog } from "../store/event-log.ts"

/** Events that are read in one turn: a few milliseconds, however long the session is. */
const PAGE = { limit: 250, maxBytes: 512 * 1024 }
/** Bound for all sessions together: about 20 MB. */
const MAX_KEPT_MARKS = 100_000

interface Outline {
  readonly marks: OutlineMark[]
  /** The event that was looked at last. */
  upTo: number
}

/**
 * The outlines of sessions that somebody looks at. Events do not change, so what was read once is kept, and only what came
 * since is read; those not asked for the longest go first.
 */
export class Outlines {
  readonly #log: Pick<EventLog, "read">
  readonly #kept = new Map<string, Outline>()
  readonly #reading = new Map<string, Promise<void>>()

  constructor(log: Pick<EventLog, "read">) {
    this.#log = log
  }

  async of(session: string, lastSeq: number): Promise<readonly OutlineMark[]> {
    const outline = this.#kept.get(session) ?? { marks: [], upTo: 0 }
    this.#kept.delete(session)
    this.#kept.set(session, outline)
    // One after the other: two readers at once would add the same marks twice.
    const before = this.#reading.get(session) ?? Promise.resolve()
    const reading = before.catch(() => undefined).then(() => this.#catchUp(session, outline, lastSeq))
    this.#reading.set(session, reading)
    try {
      await reading
    } finally {
      if (this.#reading.get(session) === reading) this.#reading.delete(session)
    }
    this.#makeRoom()
    return outline.marks.filter(({ seq }) => seq <= lastSeq)
  }

  forget(session: string): void {
    this.#kept.delete(session)
  }

  async #catchUp(session: string, outline: Outline, lastSeq: number): Promise<void> {
    while (outline.upTo < lastSeq) {
      const events = await this.#log.read(session, { after: outline.upTo, ...PAGE })
      const last = events.at(-1)
      if (last === undefined) return
      outline.marks.push(...events.flatMap((event) => markOf(event) ?? []))
      outline.upTo = last.seq
      if (outline.upTo < lastSeq) await nextTurn()
    }
  }

  #makeRoom(): void {
    let kept = [...this.#kept.values()].reduce((sum, { marks }) => sum + marks.length, 0)
    for (const [session, { marks }] of this.#kept) {
      if (kept <= MAX_KEPT_MARKS && this.#kept.size <= MAX_KEPT_MARKS) return
      // The present reader has it in hand.
      this.#kept.delete(session)
      kept -= marks.length
    }
  }
}

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
