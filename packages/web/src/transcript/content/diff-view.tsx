import { useState } from "react"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { VisibleText } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import type { DiffLine, Hunk } from "./line-diff.ts"

const LOOKS = {
  same: "",
  added: "bg-diff-add",
  removed: "bg-diff-del",
} as const

interface DiffViewProps {
  readonly hunks: readonly Hunk[]
  /** Lines shown before the rest is asked for. A decision is never cut: leave it out there. */
  readonly maxLines?: number
}

/** A unified diff. Every line says what it is in words too, for those who do not see colours or signs. */
export function DiffView({ hunks, maxLines = Number.POSITIVE_INFINITY }: DiffViewProps) {
  const [all, setAll] = useState(false)
  const total = hunks.reduce((count, { lines }) => count + lines.length, 0)
  const limit = all ? Number.POSITIVE_INFINITY : maxLines
  let shown = 0
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
              <Line key={at} line={line} />
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

function Line({ line }: { readonly line: DiffLine }) {
  const { kind, text, before, after } = line
  return (
    <div className={classes("flex gap-2 px-2", LOOKS[kind])}>
      <span aria-hidden="true" className="w-9 shrink-0 text-end text-text-3 select-none tabular-nums">
        {after ?? before}
      </span>
      <DiffText kind={kind} text={text} />
    </div>
  )
}

export const DIFF_MARKS = { same: " ", added: "+", removed: "−" } as const

/** What stands on a line, with its mark: seen by its colour and its sign, heard as a word. */
export function DiffText({ kind, text }: Pick<DiffLine, "kind" | "text">) {
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
        <VisibleText text={text} />
      </span>
    </>
  )
}
