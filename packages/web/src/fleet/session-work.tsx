import type { Session } from "@signalbox/client"
import { ChangeCounts } from "../design/change-counts.tsx"
import { plural } from "../design/words.ts"

type Changes = NonNullable<Session["changes"]>

/** Lines that its work added and removed. Undefined: nobody knows, or nothing changed. */
export function changesOf({ changes }: Session): Changes | undefined {
  return changes === undefined || changes.files + changes.added + changes.removed === 0 ? undefined : changes
}

/** Lines of new files are not counted, so there may be none. */
export function changesWords({ files, added, removed }: Changes): string {
  const lines = added + removed === 0 ? "" : `${plural(added, "line")} added, ${removed} removed in `
  return `${lines}${plural(files, "file")}${lines === "" ? " changed" : ""}`
}

/** `+12 −4`, or how many files where no lines were counted. */
export function ChangedLines({ changes, className }: { readonly changes: Changes; readonly className: string }) {
  const words = changesWords(changes)
  const { files, added, removed } = changes
  if (added + removed > 0) return <ChangeCounts added={added} removed={removed} words={words} className={className} />
  return (
    <span title={words} className={className}>
      {plural(files, "file")}
    </span>
  )
}
