import type { DiffLine, Hunk } from "./line-diff.ts"

/** A row of a diff as it is drawn. */
export type DiffRow =
  | { readonly kind: "line"; readonly line: DiffLine; readonly mate: DiffLine | undefined }
  | { readonly kind: "pair"; readonly before: DiffLine | undefined; readonly after: DiffLine | undefined }
  | { readonly kind: "fold"; readonly id: string; readonly count: number }
  /** Lines between two hunks that nobody told us. */
  | { readonly kind: "gap"; readonly count: number }

interface Shown {
  readonly isSplit: boolean
  /** Folds that somebody opened. */
  readonly unfolded: ReadonlySet<string>
  /** False for a text that is shown as it is. */
  readonly folds: boolean
}

/** Unchanged lines left around a change. */
const CONTEXT = 3
/** A fold takes a row itself: so few lines are shown instead. */
const MIN_FOLDED = 4

/** The rows of a difference: unchanged lines far from a change are folded, old beside new if it is split. Pure. */
export function diffRows(hunks: readonly Hunk[], shown: Shown): readonly DiffRow[] {
  const rows: DiffRow[] = []
  for (const [index, { lines }] of hunks.entries()) {
    if (index > 0) rows.push({ kind: "gap", count: linesBetween(hunks[index - 1], lines) })
    for (let at = 0; at < lines.length; ) {
      const isSame = lines[at]?.kind === "same"
      let to = at + 1
      while (to < lines.length && (lines[to]?.kind === "same") === isSame) to++
      if (isSame) addSame(rows, { lines, at, to, id: `${index}:${at}` }, shown)
      else addChange(rows, lines.slice(at, to), shown.isSplit)
      at = to
    }
  }
  return rows
}

interface SameRun {
  readonly lines: readonly DiffLine[]
  readonly at: number
  readonly to: number
  readonly id: string
}

function addSame(rows: DiffRow[], { lines, at, to, id }: SameRun, { isSplit, folds, unfolded }: Shown): void {
  // Nothing before the first change and after the last is near one.
  const from = at === 0 ? 0 : at + CONTEXT
  const until = to === lines.length ? to : to - CONTEXT
  const isFolded = folds && until - from >= MIN_FOLDED && !unfolded.has(id)
  for (let place = at; place < to; place++) {
    const line = lines[place]
    if (isFolded && place === from) rows.push({ kind: "fold", id, count: until - from })
    if (line === undefined || (isFolded && place >= from && place < until)) continue
    rows.push(isSplit ? { kind: "pair", before: line, after: line } : { kind: "line", line, mate: undefined })
  }
}

/** Removed lines, then those that came in their place: each knows the one it belongs to. */
function addChange(rows: DiffRow[], lines: readonly DiffLine[], isSplit: boolean): void {
  for (const { removed, added } of blocksOf(lines)) {
    if (isSplit)
      for (let at = 0; at < Math.max(removed.length, added.length); at++)
        rows.push({ kind: "pair", before: removed[at], after: added[at] })
    else {
      for (const [at, line] of removed.entries()) rows.push({ kind: "line", line, mate: added[at] })
      for (const [at, line] of added.entries()) rows.push({ kind: "line", line, mate: removed[at] })
    }
  }
}

interface Block {
  readonly removed: DiffLine[]
  readonly added: DiffLine[]
}

/** A removed line after an added one begins a block of its own. */
function blocksOf(lines: readonly DiffLine[]): readonly Block[] {
  const blocks: Block[] = []
  for (const line of lines) {
    const open = blocks.at(-1)
    if (open === undefined || (line.kind === "removed" && open.added.length > 0)) {
      blocks.push(line.kind === "removed" ? { removed: [line], added: [] } : { removed: [], added: [line] })
    } else (line.kind === "removed" ? open.removed : open.added).push(line)
  }
  return blocks
}

/** Zero where the hunks do not say: edits of a call have no place in the file. */
function linesBetween(before: Hunk | undefined, lines: readonly DiffLine[]): number {
  const last = before?.lines.findLast(({ after }) => after !== undefined)?.after
  const next = lines.find(({ after }) => after !== undefined)?.after
  return last === undefined || next === undefined ? 0 : Math.max(0, next - last - 1)
}
