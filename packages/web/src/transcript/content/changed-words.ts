import { diffArrays } from "diff/lib/diff/array.js"

/** A part of a changed line: the same on both sides, or not. */
export interface LinePart {
  readonly text: string
  readonly isChanged: boolean
}

/** Words, spaces, and every other character by itself. */
const TOKENS = /[\p{L}\p{N}_]+|\s+|[^]/gu
/** Longer lines are not code that somebody wrote. */
const MAX_CHARS = 1000
const BOUNDS = { maxEditLength: 120, timeout: 20 }

type Sides = readonly [before: readonly LinePart[], after: readonly LinePart[]]

/** Words that differ between two lines that took each other's place; undefined where they have little in common. */
export function changedWords(before: string, after: string): Sides | undefined {
  if (Math.max(before.length, after.length) > MAX_CHARS) return undefined
  const changes = diffArrays(before.match(TOKENS) ?? [], after.match(TOKENS) ?? [], BOUNDS) ?? []
  const pieces = changes.map(({ value, added, removed }) => ({ text: value.join(""), added, removed }))
  const common = pieces.reduce((sum, { text, added, removed }) => sum + (added || removed ? 0 : text.trim().length), 0)
  if (common * 3 < Math.max(before.length, after.length)) return undefined
  return [
    pieces.filter(({ added }) => !added).map(({ text, removed }) => ({ text, isChanged: removed })),
    pieces.filter(({ removed }) => !removed).map(({ text, added }) => ({ text, isChanged: added })),
  ]
}
