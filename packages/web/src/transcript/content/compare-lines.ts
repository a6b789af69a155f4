import { diffArrays } from "diff/lib/diff/array.js"

/** A stretch of both texts: the same in both, or one in the place of the other. Places are half open. */
interface Stretch {
  readonly isSame: boolean
  readonly before: readonly [from: number, to: number]
  readonly after: readonly [from: number, to: number]
}

/** A part of both texts that is still to be compared. */
interface Gap {
  readonly from: number
  readonly to: number
  readonly otherFrom: number
  readonly otherTo: number
}

/** Gaps within gaps: deeper ones are compared as they are, or taken as changed. */
const MAX_DEPTH = 12
/** Lines that occur more often say nothing about where they belong. */
const MAX_TIMES = 8
/** Steps that all comparisons without an anchor may take together: a tenth of a second. */
const MAX_STEPS = 400_000

/**
 * Compares two texts line by line, in time that grows with their length and not with the number of changes: equal ends first,
 * then lines that both have equally rarely and in the same order (patience), and only between those the shortest edit, as far
 * as the steps last. Whatever is not compared any more is one small block that took the place of another.
 */
export function compareLines(before: readonly string[], after: readonly string[]): readonly Stretch[] {
  if (before.length === 0 || after.length === 0)
    return before.length === after.length
      ? []
      : [{ isSame: false, before: [0, before.length], after: [0, after.length] }]
  const ids = new Map<string, number>()
  const numbered = (lines: readonly string[]) =>
    Int32Array.from(lines, (line) => {
      const id = ids.get(line) ?? ids.size
      if (id === ids.size) ids.set(line, id)
      return id
    })
  const comparison = new Comparison(numbered(before), numbered(after))
  comparison.compare({ from: 0, to: before.length, otherFrom: 0, otherTo: after.length }, 0)
  return comparison.stretches
}

class Comparison {
  readonly stretches: Stretch[] = []
  #steps = MAX_STEPS
  readonly #a: Int32Array
  readonly #b: Int32Array

  constructor(a: Int32Array, b: Int32Array) {
    this.#a = a
    this.#b = b
  }

  compare(gap: Gap, depth: number): void {
    let { from, to, otherFrom, otherTo } = gap
    while (from < to && otherFrom < otherTo && this.#a[from] === this.#b[otherFrom]) {
      from++
      otherFrom++
    }
    while (from < to && otherFrom < otherTo && this.#a[to - 1] === this.#b[otherTo - 1]) {
      to--
      otherTo--
    }
    this.#same(gap.from, gap.otherFrom, from - gap.from)
    this.#compareMiddle({ from, to, otherFrom, otherTo }, depth)
    this.#same(to, otherTo, gap.to - to)
  }

  #compareMiddle(gap: Gap, depth: number): void {
    const { from, to, otherFrom, otherTo } = gap
    // One line for another is what most changes are.
    if (to - from <= 1 && otherTo - otherFrom <= 1) return this.#changed(gap)
    if (from === to || otherFrom === otherTo) return this.#changed(gap)
    const anchors = depth < MAX_DEPTH ? this.#anchors(gap) : []
    if (anchors === undefined) return this.#changed(gap)
    if (anchors.length === 0) return this.#shortest(gap)
    let [at, other] = [from, otherFrom]
    for (const [line, otherLine] of anchors) {
      this.compare({ from: at, to: line, otherFrom: other, otherTo: otherLine }, depth + 1)
      this.#same(line, otherLine, 1)
      at = line + 1
      other = otherLine + 1
    }
    this.compare({ from: at, to, otherFrom: other, otherTo }, depth + 1)
  }

  /** Pairs of lines that hold the rest in place: the longest row of them in order on both sides. Undefined: no line is on both. */
  #anchors(gap: Gap): readonly (readonly [number, number])[] | undefined {
    const mine = placesOf(this.#a, gap.from, gap.to)
    const theirs = placesOf(this.#b, gap.otherFrom, gap.otherTo)
    if (![...mine.keys()].some((id) => theirs.has(id))) return undefined
    const pairsOf = (maxTimes: number) => {
      const pairs: (readonly [number, number])[] = []
      for (const [id, places] of mine) {
        const others = theirs.get(id)
        if (others === undefined || places.length !== others.length || places.length > maxTimes) continue
        for (const [index, place] of places.entries()) pairs.push([place, others[index] ?? 0])
      }
      return pairs
    }
    const unique = pairsOf(1)
    const pairs = unique.length > 0 ? unique : pairsOf(MAX_TIMES)
    return longestInOrder(pairs.sort((one, other) => one[0] - other[0]))
  }

  #shortest(gap: Gap): void {
    const { from, to, otherFrom, otherTo } = gap
    const maxEditLength = Math.floor(Math.sqrt(this.#steps))
    const [mine, theirs] = [[...this.#a.subarray(from, to)], [...this.#b.subarray(otherFrom, otherTo)]]
    // More lines than edits on one side alone: it cannot be done within the steps.
    const isHopeless = Math.abs(mine.length - theirs.length) > maxEditLength
    const changes = isHopeless ? undefined : diffArrays(mine, theirs, { maxEditLength })
    if (changes === undefined) {
      if (!isHopeless) this.#steps = 0
      return this.#changed(gap)
    }
    const edits = changes.reduce((sum, { added, removed, count }) => sum + (added || removed ? count : 0), 0)
    this.#steps = Math.max(0, this.#steps - edits * edits)
    let [at, other] = [from, otherFrom]
    for (const { added, removed, count } of changes) {
      if (!added && !removed) this.#same(at, other, count)
      else if (added) this.#changed({ from: at, to: at, otherFrom: other, otherTo: other + count })
      else this.#changed({ from: at, to: at + count, otherFrom: other, otherTo: other })
      if (!added) at += count
      if (!removed) other += count
    }
  }

  #same(from: number, otherFrom: number, count: number): void {
    this.#add({ isSame: true, before: [from, from + count], after: [otherFrom, otherFrom + count] })
  }

  #changed({ from, to, otherFrom, otherTo }: Gap): void {
    this.#add({ isSame: false, before: [from, to], after: [otherFrom, otherTo] })
  }

  /** Neighbours of one kind are one stretch. */
  #add(stretch: Stretch): void {
    if (stretch.before[0] === stretch.before[1] && stretch.after[0] === stretch.after[1]) return
    const last = this.stretches.at(-1)
    if (last?.isSame !== stretch.isSame) this.stretches.push(stretch)
    else
      this.stretches[this.stretches.length - 1] = {
        isSame: last.isSame,
        before: [last.before[0], stretch.before[1]],
        after: [last.after[0], stretch.after[1]],
      }
  }
}

/** The places of each line; of one that stands in too many places only that there are too many. */
function placesOf(lines: Int32Array, from: number, to: number): ReadonlyMap<number, readonly number[]> {
  const places = new Map<number, number[]>()
  for (let at = from; at < to; at++) {
    const id = lines[at] ?? 0
    const known = places.get(id)
    if (known === undefined) places.set(id, [at])
    else if (known.length <= MAX_TIMES) known.push(at)
  }
  return places
}

/** The longest rising subsequence of the second places, of pairs that are sorted by the first. */
function longestInOrder(pairs: readonly (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const ends: number[] = []
  const before = new Int32Array(pairs.length)
  for (const [index, [, place]] of pairs.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < place) low = middle + 1
      else high = middle
    }
    before[index] = low === 0 ? -1 : (ends[low - 1] ?? -1)
    ends[low] = index
  }
  const found: (readonly [number, number])[] = []
  for (let at = ends.at(-1) ?? -1; at >= 0; at = before[at] ?? -1) {
    const pair = pairs[at]
    if (pair !== undefined) found.push(pair)
  }
  return found.toReversed()
}
