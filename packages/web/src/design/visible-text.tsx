import { hasUnseen, lookAlikeName, lookAlikesIn, replaceUnseen, unseenIn, unseenName } from "@signalbox/protocol/unseen"
import type { ElementType, ReactNode } from "react"
import { plural } from "./words.ts"

interface VisibleTextProps {
  readonly text: string
  /** The element around the text, with its looks; none by default. */
  readonly as?: ElementType
  readonly id?: string
  readonly className?: string
}

/** Text of somebody else's with nothing in it unseen: what has no shape of its own is shown by its name. */
export function VisibleText({ text, as: Around, ...looks }: VisibleTextProps) {
  const words = <bdi>{visiblePieces(text).map(shown)}</bdi>
  return Around === undefined ? words : <Around {...looks}>{words}</Around>
}

/** Text that somebody wrote, to be read: only what deceives is shown by its name. */
export function proseText(text: string): ReactNode {
  return hasUnseen(text, "prose") ? piecesOf(text, [...unseenIn(text, "prose")]).map(shown) : text
}

function shown(piece: TextPiece, index: number): ReactNode {
  if (piece.kind === "plain") return piece.text
  const words = piece.kind === "blank-lines" ? plural(piece.count, "blank line") : piece.name
  const isBreak = piece.kind === "blank-lines"
  return (
    // Pieces have no identity but their place, and never move: another text is another list.
    <span key={index}>
      {isBreak && "\n"}
      {piece.kind === "look-alike" && <b className="text-caution">{piece.text}</b>}
      <mark className="rounded-mark border border-caution/50 bg-caution-soft px-1 font-mono text-meta text-caution">
        {words}
      </mark>
      {isBreak && "\n"}
    </span>
  )
}

/** A piece of somebody else's text: as it is, or a character that would not be seen, by its name. */
type TextPiece =
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "hidden"; readonly name: string }
  | { readonly kind: "blank-lines"; readonly count: number }
  /** A letter of another alphabet in a word of ours, followed by its name. */
  | { readonly kind: "look-alike"; readonly text: string; readonly name: string }

const BLANK_RUN = /\n(?:[ \t]*\n){3,}/g

/** Text that somebody decides on: nothing in it may hide, and nothing may be pushed out of sight. */
export function visiblePieces(text: string): readonly TextPiece[] {
  const found = [...unseenIn(text, "decision"), ...lookAlikesIn(text), ...text.matchAll(BLANK_RUN)]
  return piecesOf(
    text,
    found.sort((a, b) => a.index - b.index),
  )
}

type Found = ReturnType<typeof unseenIn> extends Iterable<infer Each> ? Each : never

/** A newline is seen: where a find begins with one, it is a run of blank lines. */
function piecesOf(text: string, found: readonly Found[]): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  let end = 0
  for (const { 0: part, index } of found) {
    if (index > end) pieces.push({ kind: "plain", text: text.slice(end, index) })
    if (part.startsWith("\n")) pieces.push({ kind: "blank-lines", count: part.split("\n").length - 2 })
    else if (hasUnseen(part)) pieces.push({ kind: "hidden", name: unseenName(part) })
    else pieces.push({ kind: "look-alike", text: part, name: lookAlikeName(part) })
    end = index + part.length
  }
  if (end < text.length) pieces.push({ kind: "plain", text: text.slice(end) })
  return pieces
}

/** Whether anything in it would not be seen as what it is. */
export function hasHidden(text: string): boolean {
  return hasUnseen(text) || lookAlikesIn(text).length > 0
}

/** One line for a list: what deceives stands in it by its name, odd spaces as ordinary ones, and no letter order is turned around. */
export function oneLine(text: string, maxLength = 300): string {
  const named = replaceUnseen(text.slice(0, maxLength * 4), "prose", (hidden) => `⟨${unseenName(hidden)}⟩`)
  const line = named.replaceAll(/\s+/g, " ").trim()
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line
}
