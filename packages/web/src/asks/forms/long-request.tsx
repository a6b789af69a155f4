import { useMemo } from "react"
import { Windowed } from "../../design/windowed.tsx"
import { decidingSpan, whyWithin } from "../../fleet/deciding-span.ts"
import { JudgedText, type JudgedTextProps } from "../../fleet/why.tsx"
import { jsonText } from "../../transcript/content/json-text.ts"
import type { Hunk } from "../../transcript/content/line-diff.ts"
import { unseenWords } from "./unseen-lines.ts"

const MAX_DRAWN = 300
const PIECE_LINES = 40
/** Each piece is an element, drawn or not. */
const MAX_PIECES = 2000
const LINE_PX = 20

export function isLongText(text: string): boolean {
  let lines = 1
  for (let at = text.indexOf("\n"); at !== -1 && lines <= MAX_DRAWN; at = text.indexOf("\n", at + 1)) lines++
  return lines > MAX_DRAWN
}

interface Piece {
  /** Its place in the text. */
  readonly from: number
  readonly text: string
  readonly lines: number
}

function piecesOf(text: string): readonly Piece[] {
  const lines = text.split("\n")
  const pieces: Piece[] = []
  let from = 0
  const perPiece = Math.max(PIECE_LINES, Math.ceil(lines.length / MAX_PIECES))
  for (let at = 0; at < lines.length; at += perPiece) {
    const part = lines.slice(at, at + perPiece)
    const piece = { from, text: part.join("\n"), lines: part.length }
    pieces.push(piece)
    from += piece.text.length + 1
  }
  return pieces
}

/** Many lines that somebody decides on: those in view are in the document. */
export function LongText({ text, field, why }: JudgedTextProps) {
  const pieces = useMemo(() => piecesOf(text), [text])
  const unseen = useMemo(() => unseenWords([{ lines: numbered(text) }]), [text])
  const judged = decidingSpan(why, field, text) === undefined ? undefined : why
  return (
    <>
      <Unseen words={unseen} />
      <Windowed content={text} count={pieces.length} heightOf={(index) => (pieces[index]?.lines ?? 1) * LINE_PX}>
        {(index) => {
          const { from, text: part } = pieces[index] ?? NOTHING
          return <JudgedText text={part} field={field} why={whyWithin(judged, from, part)} />
        }}
      </Windowed>
    </>
  )
}

/** Line by line: there may be millions. */
function* numbered(text: string): Generator<{ readonly text: string; readonly after: number }> {
  let [from, after] = [0, 1]
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from), after++) {
    yield { text: text.slice(from, end), after }
    from = end + 1
  }
  yield { text: text.slice(from), after }
}

/** Anything at all, as it is, for those who decide on it. */
export function WholeJson({ value }: { readonly value: unknown }) {
  const text = useMemo(() => jsonText(value), [value])
  const Text = isLongText(text) ? LongText : JudgedText
  return (
    <div className="rounded-control border border-line bg-sunken px-3 py-2 font-mono text-dense whitespace-pre-wrap">
      <Text text={text} field="" why={undefined} />
    </div>
  )
}

const NOTHING: Piece = { from: 0, text: "", lines: 1 }

/** Above a long text: where in it characters hide, since nobody looks at each of its lines. */
export function UnseenLines({ hunks }: { readonly hunks: readonly Hunk[] }) {
  return <Unseen words={useMemo(() => unseenWords(hunks), [hunks])} />
}

function Unseen({ words }: { readonly words: string | undefined }) {
  return words === undefined ? null : <p className="font-sans text-dense text-caution">{words}</p>
}
