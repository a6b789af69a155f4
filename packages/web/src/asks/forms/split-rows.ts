import type { DiffLine } from "../../transcript/content/line-diff.ts"

/** A line of the two sides of a difference. */
export interface SplitRow {
  readonly before: DiffLine | undefined
  readonly after: DiffLine | undefined
}

/** What was taken away beside what came in its place. Pure. */
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
