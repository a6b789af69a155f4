import { classes } from "../../design/classes.ts"
import { DiffText } from "../../transcript/content/diff-line.tsx"
import type { DiffLine, Hunk } from "../../transcript/content/line-diff.ts"
import { splitRows } from "./split-rows.ts"

/** Before and after side by side, where there is room for both. Never cut: somebody decides on it. */
export function SplitDiff({ hunks }: { readonly hunks: readonly Hunk[] }) {
  return (
    <div className="overflow-hidden rounded-control border border-line bg-sunken font-mono text-dense" data-split>
      {hunks.map((hunk, index) => (
        // Hunks have no name but their place.
        <div key={index} className={classes(index > 0 && "border-t border-dashed border-edge")}>
          {splitRows(hunk.lines).map(({ before, after }, at) => (
            <div key={at} className="grid grid-cols-2">
              <Side line={before} number={before?.before} isAlso={false} />
              <Side line={after} number={after?.after} isAlso={before?.kind === "same"} />
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}

interface SideProps {
  readonly line: DiffLine | undefined
  readonly number: number | undefined
  /** The same line stands on the other side: it is read aloud once. */
  readonly isAlso: boolean
}

function Side({ line, number, isAlso }: SideProps) {
  const kind = line?.kind
  return (
    <div
      aria-hidden={isAlso || line === undefined}
      className={classes(
        "flex min-w-0 gap-2 px-2 even:border-s even:border-line",
        kind === "added" && "bg-diff-add",
        kind === "removed" && "bg-diff-del",
        line === undefined && "bg-canvas",
      )}
    >
      <span aria-hidden="true" className="w-9 shrink-0 text-end text-text-3 select-none tabular-nums">
        {number}
      </span>
      {line !== undefined && <DiffText kind={line.kind} text={line.text} />}
    </div>
  )
}
