import type { ReactNode } from "react"
import { classes } from "../../design/classes.ts"
import { proseText, VisibleText, visiblePieces } from "../../design/visible-text.tsx"
import type { LinePart } from "./changed-words.ts"
import { type LineColours, TONES, type Tone } from "./code-tones.ts"

const LOOKS: Readonly<Record<Tone, string>> = {
  // Somebody who decides must not skip a line because a stray mark makes it look like a comment.
  comment: "text-code-comment in-data-decision:text-inherit",
  string: "text-code-string",
  number: "text-code-number",
  keyword: "text-code-keyword",
  name: "text-code-name",
  added: "text-clear",
  removed: "text-danger",
}

/** A stretch of a line in one look. */
interface Segment {
  readonly text: string
  readonly tone: Tone | undefined
  readonly isChanged: boolean
}

/** A line cut where its look changes: by its colours, and by what changed in it. The same characters in the same order. Pure. */
export function segmentsOf(
  text: string,
  colours: LineColours = [],
  parts: readonly LinePart[] = [],
): readonly Segment[] {
  const segments: Segment[] = []
  let at = 0
  let colour = 0
  const push = (to: number, isChanged: boolean) => {
    while (at < to) {
      while (colour < colours.length && (colours[colour + 1] ?? 0) <= at) colour += 3
      const [from = text.length, end = text.length, tone = -1] = colours.slice(colour, colour + 3)
      const isIn = from <= at
      const stop = Math.min(to, Math.max(isIn ? end : from, at + 1))
      segments.push({ text: text.slice(at, stop), tone: isIn ? TONES[tone] : undefined, isChanged })
      at = stop
    }
  }
  for (const part of parts) push(Math.min(text.length, at + part.text.length), part.isChanged)
  push(text.length, false)
  return segments
}

interface CodeTextProps {
  readonly text: string
  readonly colours?: LineColours | undefined
  readonly parts?: readonly LinePart[] | undefined
  /** The look of what changed. */
  readonly changed?: string
  /** Prose follows the habits of its language; in all other text nothing may go unseen. */
  readonly readFor?: "decision" | "prose"
}

/** One line of code. A line with something unseen in it has no other look: what it holds matters more. */
export function CodeText({ text, colours, parts, changed = "", readFor = "decision" }: CodeTextProps): ReactNode {
  if (readFor === "prose" && typeof proseText(text) !== "string") return proseText(text)
  if (readFor === "decision" && visiblePieces(text).some(({ kind }) => kind !== "plain"))
    return <VisibleText text={text} />
  return segmentsOf(text, colours, parts).map(({ text: words, tone, isChanged }, index) => {
    const look = classes(tone && LOOKS[tone], isChanged && changed)
    return look === "" ? (
      words
    ) : (
      // Segments have no name but their place.
      <span key={index} className={look}>
        {words}
      </span>
    )
  })
}
