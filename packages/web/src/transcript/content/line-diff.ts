import { isObject } from "@signalbox/protocol/envelope"
import { diffArrays } from "diff/lib/diff/array.js"

/** A line of a difference between two texts. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed"
  readonly text: string
  /** Its number before and after, where it has one. */
  readonly before?: number
  readonly after?: number
}

export interface Hunk {
  readonly lines: readonly DiffLine[]
}

const CONTEXT = 3
/** Past these the two are shown as one block removed and one added: comparing would take longer than reading. */
const MAX_LINES = 200_000
const LINE_BOUNDS = { maxEditLength: 1000, timeout: 1000 }

function splitLines(text: string): readonly string[] {
  if (text === "") return []
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  return lines
}

export function diffTexts(before: string, after: string, firstLine = 1): readonly Hunk[] {
  const [a, b] = [splitLines(before), splitLines(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const lines = [
    ...asLines("same", a.slice(0, start)),
    ...compare(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...asLines("same", a.slice(a.length - end)),
  ]
  return hunksOf(numbered(lines, { before: firstLine, after: firstLine }))
}

type Unnumbered = Pick<DiffLine, "kind" | "text">

function asLines(kind: DiffLine["kind"], texts: readonly string[]): readonly Unnumbered[] {
  return texts.map((text) => ({ kind, text }))
}

function compare(a: string[], b: string[]): readonly Unnumbered[] {
  const changes = a.length + b.length > MAX_LINES ? undefined : diffArrays(a, b, LINE_BOUNDS)
  if (changes === undefined) return [...asLines("removed", a), ...asLines("added", b)]
  return changes.flatMap(({ value, added, removed }) => asLines(added ? "added" : removed ? "removed" : "same", value))
}

function numbered(lines: readonly Unnumbered[], from: { before: number; after: number }): readonly DiffLine[] {
  let { before, after } = from
  return lines.map(({ kind, text }) => {
    if (kind === "removed") return { kind, text, before: before++ }
    if (kind === "added") return { kind, text, after: after++ }
    return { kind, text, before: before++, after: after++ }
  })
}

/** Changes, with a few lines around each. */
function hunksOf(lines: readonly DiffLine[]): readonly Hunk[] {
  const changes: [first: number, last: number][] = []
  for (const [at, { kind }] of lines.entries()) {
    if (kind === "same") continue
    const open = changes.at(-1)
    if (open !== undefined && at <= open[1] + 2 * CONTEXT) open[1] = at
    else changes.push([at, at])
  }
  return changes.map(([first, last]) => ({ lines: lines.slice(Math.max(0, first - CONTEXT), last + CONTEXT + 1) }))
}

interface PatchHunk {
  readonly oldStart: number
  readonly newStart: number
  readonly lines: readonly string[]
}

/** The CLI's own account of what a tool changed, if it is one. */
export function patchOf(value: unknown): readonly Hunk[] | undefined {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isPatchHunk)) return undefined
  return value.map(({ oldStart, newStart, lines }) => ({
    lines: numbered(
      lines.filter((line) => !line.startsWith("\\")).map((line) => ({ kind: kindOf(line), text: line.slice(1) })),
      { before: oldStart, after: newStart },
    ),
  }))
}

function isPatchHunk(value: unknown): value is PatchHunk {
  if (!isObject(value)) return false
  const { oldStart, newStart, lines } = value
  const hasPlace = typeof oldStart === "number" && typeof newStart === "number"
  return hasPlace && Array.isArray(lines) && lines.every((line) => typeof line === "string")
}

function kindOf(line: string): DiffLine["kind"] {
  if (line.startsWith("+")) return "added"
  return line.startsWith("-") ? "removed" : "same"
}

export function countsOf(hunks: readonly Hunk[]): { readonly added: number; readonly removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines)
  const count = (wanted: DiffLine["kind"]) => lines.filter(({ kind }) => kind === wanted).length
  return { added: count("added"), removed: count("removed") }
}

/** A line of the two sides of a difference. */
interface SplitRow {
  readonly before: DiffLine | undefined
  readonly after: DiffLine | undefined
}

/** Removed lines beside those that came in their place. Pure. */
export function splitRows(lines: readonly DiffLine[]): readonly SplitRow[] {
  const rows: SplitRow[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      rows.push({ before: removed[at], after: added[at] })
    }
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === "same") {
      flush()
      rows.push({ before: line, after: line })
    } else if (line.kind === "removed") {
      // Something new was complete before this: it stands by itself.
      if (added.length > 0) flush()
      removed.push(line)
    } else {
      added.push(line)
    }
  }
  flush()
  return rows
}

/** A part of a changed line: the same on both sides, or not. */
export interface LinePart {
  readonly text: string
  readonly isChanged: boolean
}

/** Words, spaces, and every other character by itself. */
const TOKENS = /[\p{L}\p{N}_]+|\s+|[^]/gu
/** Longer lines are not code that somebody wrote. */
const MAX_CHARS = 1000
const MAX_PAIRS = 300
const WORD_BOUNDS = { maxEditLength: 200, timeout: 20 }

/** Parts that changed within lines that took each other's place. A pair with little in common is left out: all of it changed. */
export function changedParts(lines: readonly DiffLine[]): ReadonlyMap<DiffLine, readonly LinePart[]> {
  const parts = new Map<DiffLine, readonly LinePart[]>()
  for (const { before, after } of splitRows(lines).filter(isReplacement).slice(0, MAX_PAIRS)) {
    if (before === undefined || after === undefined) continue
    const changes = diffArrays(before.text.match(TOKENS) ?? [], after.text.match(TOKENS) ?? [], WORD_BOUNDS) ?? []
    const pieces = changes.map(({ value, added, removed }) => ({ text: value.join(""), added, removed }))
    const same = pieces.filter(({ added, removed }) => !added && !removed)
    const common = same.reduce((sum, { text }) => sum + text.trim().length, 0)
    if (common * 3 < Math.max(before.text.length, after.text.length)) continue
    const [old, now] = [pieces.filter(({ added }) => !added), pieces.filter(({ removed }) => !removed)]
    parts.set(
      before,
      old.map(({ text, removed }) => ({ text, isChanged: removed })),
    )
    parts.set(
      after,
      now.map(({ text, added }) => ({ text, isChanged: added })),
    )
  }
  return parts
}

function isReplacement({ before, after }: SplitRow): boolean {
  return (
    before?.kind === "removed" && after !== undefined && Math.max(before.text.length, after.text.length) <= MAX_CHARS
  )
}
