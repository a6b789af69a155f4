import { classes } from "../../design/classes.ts"
import { VisibleText } from "../../design/visible-text.tsx"
import type { DiffLine } from "./line-diff.ts"

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
