import { useMemo, useState } from "react"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { VisibleText } from "../../design/visible-text.tsx"
import { Windowed } from "../../design/windowed.tsx"
import { plural } from "../../design/words.ts"
import { changedParts, type DiffLine, type Hunk, type LinePart } from "./line-diff.ts"

export const DIFF_LOOKS = { same: "", added: "bg-diff-add", removed: "bg-diff-del" } as const
export const DIFF_MARKS = { same: " ", added: "+", removed: "−" } as const
/** More lines would be more elements than a page can hold: then only those in view are drawn. */
const MAX_DRAWN = 300

export function isDrawable(hunks: readonly Hunk[]): boolean {
  return hunks.reduce((count, { lines }) => count + lines.length, 0) <= MAX_DRAWN
}

interface DiffViewProps {
  readonly hunks: readonly Hunk[]
  /** Lines shown before the rest is asked for. A decision is never cut: leave it out there. */
  readonly maxLines?: number
}

/** A unified diff. Every line says what it is in words too, for those who do not see colours or signs. */
export function DiffView({ hunks, maxLines = Number.POSITIVE_INFINITY }: DiffViewProps) {
  const [all, setAll] = useState(false)
  const parts = useChangedParts(hunks)
  const total = hunks.reduce((count, { lines }) => count + lines.length, 0)
  const limit = all ? Number.POSITIVE_INFINITY : maxLines
  let shown = 0
  if (limit > MAX_DRAWN && !isDrawable(hunks)) return <LongDiff hunks={hunks} parts={parts} />
  return (
    <div className="overflow-hidden rounded-control border border-line bg-sunken font-mono text-dense">
      {hunks.map((hunk, index) => {
        const lines = hunk.lines.slice(0, Math.max(0, limit - shown))
        shown += lines.length
        if (lines.length === 0) return null
        return (
          // Hunks have no name but their place.
          <div key={index} className={classes(index > 0 && "border-t border-dashed border-edge")}>
            {lines.map((line, at) => (
              <Line key={at} line={line} parts={parts.get(line)} />
            ))}
          </div>
        )
      })}
      {shown < total && (
        <Button look="quiet" onClick={() => setAll(true)} className="w-full rounded-none! font-sans">
          Show {plural(total - shown, "more line")}
        </Button>
      )}
    </div>
  )
}

const PIECE_LINES = 40
/** A line that is not wrapped. */
const LINE_PX = 20

/** Many thousand lines: those in view are in the document, and all of them can be scrolled to. */
function LongDiff({ hunks, parts }: { readonly hunks: readonly Hunk[]; readonly parts: Parts }) {
  const lines = useMemo(() => hunks.flatMap((hunk) => hunk.lines), [hunks])
  const firsts = useMemo(() => new Set(hunks.slice(1).map((hunk) => hunk.lines[0])), [hunks])
  const pieceOf = (index: number) => lines.slice(index * PIECE_LINES, (index + 1) * PIECE_LINES)
  return (
    <Windowed
      count={Math.ceil(lines.length / PIECE_LINES)}
      heightOf={(index) => pieceOf(index).length * LINE_PX}
      className="overflow-hidden rounded-control border border-line bg-sunken font-mono text-dense"
    >
      {(index) =>
        pieceOf(index).map((line, at) => (
          <div key={at} className={classes(firsts.has(line) && "border-t border-dashed border-edge")}>
            <Line line={line} parts={parts.get(line)} />
          </div>
        ))
      }
    </Windowed>
  )
}

function Line({ line, parts }: DiffTextProps) {
  return (
    <div className={classes("flex gap-2 px-2", DIFF_LOOKS[line.kind])}>
      <LineNumber>{line.after ?? line.before}</LineNumber>
      <DiffText line={line} parts={parts} />
    </div>
  )
}

export function LineNumber({ children }: { readonly children: number | undefined }) {
  return (
    <span aria-hidden="true" className="w-9 shrink-0 text-end text-text-3 select-none tabular-nums">
      {children}
    </span>
  )
}

type Parts = ReadonlyMap<DiffLine, readonly LinePart[]>

/** What changed within the lines of a difference, by line. */
export function useChangedParts(hunks: readonly Hunk[]): Parts {
  return useMemo(() => new Map(hunks.flatMap(({ lines }) => [...changedParts(lines)])), [hunks])
}

interface DiffTextProps {
  readonly line: DiffLine
  /** Undefined: it changed as a whole, or not at all. */
  readonly parts: readonly LinePart[] | undefined
}

/** What stands on a line, with its mark: seen by its colour and its sign, heard as a word. */
export function DiffText({ line: { kind, text }, parts }: DiffTextProps) {
  return (
    <>
      <span
        aria-hidden="true"
        className={classes(
          "w-2 shrink-0 select-none",
          kind === "added" && "text-clear",
          kind === "removed" && "text-danger",
        )}
      >
        {DIFF_MARKS[kind]}
      </span>
      {kind !== "same" && <span className="sr-only">{kind}: </span>}
      <span className="min-w-0 flex-1 whitespace-pre-wrap">
        {parts === undefined ? <VisibleText text={text} /> : parts.map(shownPart)}
      </span>
    </>
  )
}

function shownPart({ text, isChanged }: LinePart, index: number) {
  return (
    // Parts have no name but their place.
    <span key={index} className={isChanged ? "rounded-[2px] outline outline-current/40" : undefined}>
      <VisibleText text={text} />
    </span>
  )
}
