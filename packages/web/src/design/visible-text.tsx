import { hasUnseen, replaceUnseen, unseenIn, unseenName } from "@signalbox/protocol/unseen"
import type { ReactNode } from "react"
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

/** A piece of somebody else's text: as it is, or a character that would not be seen, by its name. */
type TextPiece =
  | { readonly kind: "plain"; readonly text: string }
  | { readonly kind: "hidden"; readonly name: string }
  | { readonly kind: "blank-lines"; readonly count: number }

const BLANK_RUN = /\n(?:[ \t]*\n){3,}/g

/** Text that somebody reads: nothing in it may turn it around or hide in it. */
function prosePieces(text: string): readonly TextPiece[] {
  if (!hasUnseen(text, "prose")) return [{ kind: "plain", text }]
  return piecesOf(text, [...unseenIn(text, "prose")].map(hiddenPiece))
}

/** Text that somebody decides on: nothing in it may hide, and nothing may be pushed out of sight. */
export function visiblePieces(text: string): readonly TextPiece[] {
  const hidden = [...unseenIn(text, "decision")].map(hiddenPiece)
  const blank = [...text.matchAll(BLANK_RUN)].map((run) => ({ ...placeOf(run), piece: blankLines(run[0]) }))
  return piecesOf(text, blank.length === 0 ? hidden : [...hidden, ...blank].sort((a, b) => a.index - b.index))
}

interface Found {
  readonly index: number
  readonly length: number
  readonly piece: TextPiece
}

type Finding = Pick<RegExpMatchArray, 0> & { readonly index: number }

function placeOf(found: Finding): Pick<Found, "index" | "length"> {
  return { index: found.index, length: found[0].length }
}

function hiddenPiece(found: Finding): Found {
  return { ...placeOf(found), piece: { kind: "hidden", name: unseenName(found[0]) } }
}

function piecesOf(text: string, found: readonly Found[]): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  let end = 0
  for (const { index, length, piece } of found) {
    if (index > end) pieces.push({ kind: "plain", text: text.slice(end, index) })
    pieces.push(piece)
    end = index + length
  }
  if (end < text.length) pieces.push({ kind: "plain", text: text.slice(end) })
  return pieces
}

function blankLines(run: string): TextPiece {
  return { kind: "blank-lines", count: run.split("\n").length - 2 }
}

/** Whether anything in it would not be seen as what it is. */
export function hasHidden(text: string): boolean {
  return hasUnseen(text)
}

/** One line for a list: what deceives stands in it by its name, odd spaces as ordinary ones, and no letter order is turned around. */
export function oneLine(text: string, maxLength = 300): string {
  const named = replaceUnseen(text.slice(0, maxLength * 4), "prose", (hidden) => `⟨${unseenName(hidden)}⟩`)
  const line = named.replaceAll(/\s+/g, " ").trim()
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line
}
