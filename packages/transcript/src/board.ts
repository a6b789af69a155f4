import { Entry, type Place } from "./entry.ts"
import { Lane } from "./lane.ts"
import type { Row } from "./row.ts"

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
    return this.#lanes.get(lane)?.rows() ?? []
  }

  laneIds(): readonly string[] {
    return [...this.#lanes.keys()].filter((id) => id !== null)
  }
}
