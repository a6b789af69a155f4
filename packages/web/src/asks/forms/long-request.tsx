import { useMemo } from "react"
import { VisibleText } from "../../design/visible-text.tsx"
import { Windowed } from "../../design/windowed.tsx"
import { isDrawable } from "../../transcript/content/diff-view.tsx"
import type { Hunk } from "../../transcript/content/line-diff.ts"
import { unseenWords } from "./unseen-lines.ts"

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
