import { arrange } from "./arrange.ts"
import { byPlace, countBefore, Entry, type Place } from "./entry.ts"
import type { Row } from "./row.ts"

/**
 * The rows of the agent, or of one of its sub-agents. Entries come mostly at the end, so only what lies behind the first
 * change is arranged anew when somebody looks; a page from before costs one pass.
 */
class Lane {
  readonly id: string | null
  #entries: Entry[] = []
  #live: readonly Entry[] = []
  #isSorted = true
  #changedFrom = Number.POSITIVE_INFINITY
  #rows: readonly Row[] = []
  readonly #starts: number[] = []

  constructor(id: string | null) {
    this.id = id
  }

  add(entry: Entry): void {
    const last = this.#entries.at(-1)
    if (last !== undefined && byPlace(last, entry) > 0) this.#isSorted = false
    this.#entries.push(entry)
    this.#changed(entry.seq)
  }

  touch(entry: Entry): void {
    entry.fade()
    this.#changed(entry.seq)
  }

  /** An entry's place is another, or its lane. */
  unsettle(): void {
    this.#isSorted = false
    this.#changedFrom = Number.NEGATIVE_INFINITY
  }

  fadeAll(): void {
    for (const entry of this.#entries) entry.fade()
    this.#changedFrom = Number.NEGATIVE_INFINITY
  }

  /** Live entries come behind everything that was said. */
  setLive(live: readonly Entry[]): void {
    if (live.length === 0 && this.#live.length === 0) return
    this.#live = live
    this.#changed(Number.MAX_SAFE_INTEGER)
  }

  rows(): readonly Row[] {
    if (this.#changedFrom === Number.POSITIVE_INFINITY) return this.#rows
    if (!this.#isSorted) this.#sort()
    const from = Math.max(0, this.#indexOf(this.#changedFrom) - 1)
    const at = countBefore(this.#starts.length, (index) => (this.#starts[index] ?? 0) <= from) - 1
    const row = this.#beforeAsides(at)
    const [keep, start] = row < 0 ? [0, 0] : [row, this.#starts[row] ?? 0]
    const groups = this.#rows.slice(keep).filter((row) => row.kind === "activity")
    const before = new Map(groups.map((row) => [row.key, row]))
    const arranged = arrange({ said: this.#entries, live: this.#live }, start, before)
    // A copy, because whoever looked before still has the old one; the spread of a long array would be slow.
    const rows = this.#rows.slice(0, keep)
    this.#starts.length = keep
    for (const row of arranged.rows) rows.push(row)
    for (const index of arranged.starts) this.#starts.push(index)
    this.#rows = rows
    this.#changedFrom = Number.POSITIVE_INFINITY
    return rows
  }

  /** Hooks and thoughts that stand alone may belong to the group before them, now that something follows. */
  #beforeAsides(row: number): number {
    let first = row
    while (first > 0 && isAside(this.#rows[first])) first--
    return first
  }

  #changed(seq: number): void {
    if (seq < this.#changedFrom) this.#changedFrom = seq
  }

  #sort(): void {
    this.#entries = this.#entries.filter((entry) => entry.lane === this.id).sort(byPlace)
    this.#isSorted = true
    this.#changedFrom = Number.NEGATIVE_INFINITY
  }

  /** The first entry at or behind that event. */
  #indexOf(seq: number): number {
    return countBefore(this.#entries.length, (index) => (this.#entries[index]?.seq ?? 0) < seq)
  }
}

function isAside(row: Row | undefined): boolean {
  return row?.kind === "hook" || row?.kind === "thinking"
}

const NO_ROWS: readonly Row[] = []

/** All lanes. Whoever keeps facts puts entries here and says when they show something else. */
export class Board {
  readonly #lanes = new Map<string | null, Lane>([[null, new Lane(null)]])
  readonly #onLane: (lane: string, seq: number) => void

  /** `onLane` hears of everything that a sub-agent's lane gets. */
  constructor(onLane: (lane: string, seq: number) => void) {
    this.#onLane = onLane
  }

  lane(id: string | null): Lane {
    const lane = this.#lanes.get(id) ?? new Lane(id)
    this.#lanes.set(id, lane)
    return lane
  }

  add(place: Place, draw: (entry: Entry) => Row | undefined): Entry {
    const entry = new Entry(place, draw)
    this.lane(place.lane).add(entry)
    if (place.lane !== null) this.#onLane(place.lane, place.seq)
    return entry
  }

  touch(entry: Entry): void {
    this.lane(entry.lane).touch(entry)
  }

  /** It stands elsewhere than was thought, now that more is loaded. */
  move(entry: Entry, to: Place): void {
    if (entry.seq === to.seq && entry.pos === to.pos && entry.lane === to.lane) return
    const before = this.lane(entry.lane)
    before.unsettle()
    const isElsewhere = entry.lane !== to.lane
    entry.seq = to.seq
    entry.pos = to.pos
    entry.lane = to.lane
    entry.fade()
    if (!isElsewhere) return
    const lane = this.lane(to.lane)
    lane.add(entry)
    lane.unsettle()
    if (to.lane !== null) this.#onLane(to.lane, to.seq)
  }

  fadeAll(): void {
    for (const lane of this.#lanes.values()) lane.fadeAll()
  }

  rows(lane: string | null): readonly Row[] {
    return this.#lanes.get(lane)?.rows() ?? NO_ROWS
  }

  laneIds(): readonly string[] {
    return [...this.#lanes.keys()].filter((id) => id !== null)
  }
}
