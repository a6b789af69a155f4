import type { ReactNode } from "react"
import { prosePieces, type TextPiece, visiblePieces } from "./visible-characters.ts"
import { plural } from "./words.ts"

/** Text of somebody else's with nothing in it unseen: what has no shape of its own is shown by its name. */
export function VisibleText({ text }: { readonly text: string }) {
  return <bdi>{visiblePieces(text).map(shown)}</bdi>
}

/** What somebody wrote, to be read: only what deceives is shown by its name. */
export function proseText(text: string): ReactNode {
  const pieces = prosePieces(text)
  return pieces.length === 1 && pieces[0]?.kind === "plain" ? text : pieces.map(shown)
}

function shown(piece: TextPiece, index: number): ReactNode {
  if (piece.kind === "plain") return piece.text
  const words = piece.kind === "hidden" ? piece.name : plural(piece.count, "blank line")
  const isBreak = piece.kind === "blank-lines"
  return (
    // Pieces have no identity but their place, and never move: another text is another list.
    <span key={index}>
      {isBreak && "\n"}
      <mark className="rounded-[3px] border border-caution/50 bg-caution-soft px-1 font-mono text-meta text-caution">
        {words}
      </mark>
      {isBreak && "\n"}
    </span>
  )
}
