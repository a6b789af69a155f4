import {
  hasUnseen,
  lookAlikeName,
  lookAlikesIn,
  MAX_LOOK_ALIKES,
  type ReadFor,
  replaceUnseen,
  unseenIn,
  unseenName,
  unseenNumber,
} from "@signalbox/protocol/unseen"
import { type ElementType, memo, type ReactNode } from "react"
import { plural } from "./words.ts"

interface VisibleTextProps {
  readonly text: string
  /** The element around the text, with its looks; none by default. */
  readonly as?: ElementType
  readonly id?: string
  readonly className?: string
}

/** Text of somebody else's with nothing in it unseen: what has no shape of its own is shown by its name. */
export const VisibleText = memo(function VisibleText({ text, as: Around, ...looks }: VisibleTextProps) {
  const words = <bdi>{visiblePieces(text).map(shown)}</bdi>
  return Around === undefined ? words : <Around {...looks}>{words}</Around>
})

/** Text that somebody wrote, to be read: only what deceives is shown by its name. */
export function proseText(text: string): ReactNode {
  return hasUnseen(text, "prose") ? piecesOf(text, "prose", [...unseenIn(text, "prose")]).map(shown) : text
}

function shown(piece: TextPiece, index: number): ReactNode {
  if (piece.kind === "plain") return piece.text
  const times = piece.kind === "hidden" && piece.count > 1 ? ` ×${piece.count}` : ""
  const words = piece.kind === "blank-lines" ? plural(piece.count, "blank line") : `${piece.name}${times}`
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
  | { readonly kind: "hidden"; readonly name: string; readonly count: number }
  | { readonly kind: "blank-lines"; readonly count: number }
  /** A letter of another alphabet in a word of ours, followed by its name. */
  | { readonly kind: "look-alike"; readonly text: string; readonly name: string }

const BLANK_RUN = /\n(?:[ \t]*\n){3,}/g

/** Text that somebody decides on: nothing in it may hide, and nothing may be pushed out of sight. */
export function visiblePieces(text: string): readonly TextPiece[] {
  const alike = lookAlikesIn(text)
  const found = [...unseenIn(text, "decision"), ...alike, ...text.matchAll(BLANK_RUN)]
  const pieces = piecesOf(
    text,
    "decision",
    found.sort((a, b) => a.index - b.index),
  )
  if (alike.length < MAX_LOOK_ALIKES) return pieces
  const last = pieces.findLastIndex(({ kind }) => kind === "look-alike")
  const name = "look-alike letters are not marked from here on"
  return pieces.toSpliced(last + 1, 0, { kind: "hidden", name, count: 1 })
}

type Found = ReturnType<typeof unseenIn> extends Iterable<infer Each> ? Each : never

/** Each piece is an element or two. After so many, the rest is one text with the names in it. */
const MAX_PIECES = 1000

/** A newline is seen: where a find begins with one, it is a run of blank lines. A character many times in a row is named once. */
function piecesOf(text: string, readFor: ReadFor, found: readonly Found[]): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  let [end, before] = [0, ""]
  for (const { 0: part, index } of found) {
    const last = pieces.at(-1)
    if (last?.kind === "hidden" && part === before && index === end)
      pieces[pieces.length - 1] = { ...last, count: last.count + 1 }
    else if (pieces.length >= MAX_PIECES) {
      const rest = replaceUnseen(text.slice(end), readFor, (hidden) => `⟨${unseenNumber(hidden)}⟩`)
      return [...pieces, { kind: "plain", text: rest }]
    } else {
      if (index > end) pieces.push({ kind: "plain", text: text.slice(end, index) })
      if (part.startsWith("\n")) pieces.push({ kind: "blank-lines", count: part.split("\n").length - 2 })
      else if (hasUnseen(part)) pieces.push({ kind: "hidden", name: unseenName(part), count: 1 })
      else pieces.push({ kind: "look-alike", text: part, name: lookAlikeName(part) })
    }
    end = index + part.length
    before = part
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
