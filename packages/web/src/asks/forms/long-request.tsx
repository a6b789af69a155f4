import { useMemo } from "react"
import { hasHidden, VisibleText } from "../../design/visible-text.tsx"
import { Windowed } from "../../design/windowed.tsx"
import { plural } from "../../design/words.ts"
import { isDrawable } from "../../transcript/content/diff-view.tsx"
import type { Hunk } from "../../transcript/content/line-diff.ts"

const MAX_DRAWN = 300
const PIECE_LINES = 40
const LINE_PX = 20

export function isLongText(text: string): boolean {
  let lines = 1
  for (let at = text.indexOf("\n"); at !== -1 && lines <= MAX_DRAWN; at = text.indexOf("\n", at + 1)) lines++
  return lines > MAX_DRAWN
}

/** Many lines that somebody decides on: those in view are in the document. */
export function LongText({ text }: { readonly text: string }) {
  const lines = useMemo(() => text.split("\n"), [text])
  const pieceOf = (index: number) => lines.slice(index * PIECE_LINES, (index + 1) * PIECE_LINES)
  return (
    <Windowed count={Math.ceil(lines.length / PIECE_LINES)} heightOf={(index) => pieceOf(index).length * LINE_PX}>
      {(index) => <VisibleText text={pieceOf(index).join("\n")} />}
    </Windowed>
  )
}

/** Above a long diff: where in it characters hide, since nobody looks at each of its lines. */
export function UnseenLines({ hunks }: { readonly hunks: readonly Hunk[] }) {
  const words = useMemo(() => (isDrawable(hunks) ? undefined : unseenWords(hunks)), [hunks])
  return words === undefined ? null : <p className="text-dense text-caution">{words}</p>
}

const MAX_NAMED = 5

/** Undefined where nothing hides. Pure. */
export function unseenWords(hunks: readonly Hunk[]): string | undefined {
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
