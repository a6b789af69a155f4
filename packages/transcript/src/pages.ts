import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { type Entry, numberOf } from "./entry.ts"
import type { PictureSource } from "./row.ts"

/** A result that says how many pages follow it, each in a message of its own. */
interface Announced {
  readonly seq: number
  readonly count: number
}

interface Page {
  readonly pictures: readonly PictureSource[]
  /** What shows them while nobody is known to have announced them. */
  readonly entries: readonly Entry[]
}

interface Host {
  readonly entry: Entry
}

/**
 * Pages of a document that was read: older CLIs (2.1.120) tell them behind the result, newer ones in it. Whose they are is
 * told by their place alone.
 */
export class PageTable<Use extends Host> {
  readonly #announced = new Map<Use, Announced>()
  readonly #pages = new Map<number, Page>()

  /** The last result of a use counts. Tells what shows something else now. */
  announce(use: Use, seq: number, structured: unknown): readonly Entry[] {
    const count = textOf(structured, "type") === "parts" ? numberOf(fieldOf(structured, "file"), "count") : undefined
    if (count === undefined && !this.#announced.has(use)) return []
    const before = new Map([...this.#pages.keys()].map((page) => [page, this.hostOf(page)]))
    if (count === undefined) this.#announced.delete(use)
    else this.#announced.set(use, { seq, count })
    return [...this.#pages].flatMap(([page, { entries }]) => {
      const [was, is] = [before.get(page), this.hostOf(page)]
      return was === is ? [] : [...entries, ...[was, is].flatMap((host) => host?.entry ?? [])]
    })
  }

  add(seq: number, page: Page): readonly Entry[] {
    this.#pages.set(seq, page)
    const host = this.hostOf(seq)
    return host === undefined ? [] : [host.entry]
  }

  /** Whose page an event is: of the nearest that announced it. Undefined: of none that is loaded. */
  hostOf(page: number): Use | undefined {
    let [host, nearest] = [undefined as Use | undefined, 0]
    for (const [use, { seq, count }] of this.#announced)
      if (page > seq && page <= seq + count && seq > nearest) [host, nearest] = [use, seq]
    return host
  }

  pagesOf(use: Use): readonly { readonly seq: number; readonly pictures: readonly PictureSource[] }[] {
    if (!this.#announced.has(use)) return []
    return [...this.#pages]
      .flatMap(([seq, { pictures }]) => (this.hostOf(seq) === use ? [{ seq, pictures }] : []))
      .sort((a, b) => a.seq - b.seq)
  }
}
