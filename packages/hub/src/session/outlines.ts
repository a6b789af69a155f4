import type { OutlineMark } from "@signalbox/protocol/hub-api"
import type { EventLog } from "../store/event-log.ts"
import { markOf } from "./outline.ts"

const PAGE = { limit: 1_000, maxBytes: 4 * 1024 * 1024 }
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

  async #catchUp(session: string, outline: Outline, lastSeq: number): Promise<void> {
    while (outline.upTo < lastSeq) {
      const events = await this.#log.read(session, { after: outline.upTo, ...PAGE })
      const last = events.at(-1)
      if (last === undefined) return
      outline.marks.push(...events.flatMap((event) => markOf(event) ?? []))
      outline.upTo = last.seq
    }
  }

  #makeRoom(): void {
    let kept = [...this.#kept.values()].reduce((sum, { marks }) => sum + marks.length, 0)
    for (const [session, { marks }] of this.#kept) {
      if (kept <= MAX_KEPT_MARKS && this.#kept.size <= MAX_KEPT_MARKS) return
      // Whoever reads it now has it in hand.
      this.#kept.delete(session)
      kept -= marks.length
    }
  }
}
