import { hasHidden } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"

interface Line {
  readonly text: string
  readonly before?: number | undefined
  readonly after?: number | undefined
}

const MAX_NAMED = 5

/** The lines in which characters hide, in words; undefined where none do. Pure. */
export function unseenWords(hunks: readonly { readonly lines: Iterable<Line> }[]): string | undefined {
  const found: number[] = []
  let count = 0
  for (const { lines } of hunks) {
    for (const { text, after, before } of lines) {
      // Plain text, as most lines are, is told quickly.
      if (/^[\t\x20-\x7e]*$/.test(text) || !hasHidden(text)) continue
      count++
      if (found.length < MAX_NAMED) found.push(after ?? before ?? 0)
    }
  }
  if (count === 0) return undefined
  const more = count > found.length ? `, and ${plural(count - found.length, "more line")}` : ""
  return `Hidden characters on ${found.length === 1 ? "line" : "lines"} ${found.join(", ")}${more}.`
}
