import type { Session } from "@signalbox/client"
import { plural } from "../design/words.ts"

type Changes = NonNullable<Session["changes"]>

/** Lines that its work added and removed. Undefined: nobody knows, or nothing changed. */
export function changesOf({ changes }: Session): Changes | undefined {
  return changes === undefined || changes.files + changes.added + changes.removed === 0 ? undefined : changes
}

export function changesWords({ files, added, removed }: Changes): string {
  return `${plural(added, "line")} added, ${removed} removed in ${plural(files, "file")}`
}
