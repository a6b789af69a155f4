import { classes } from "../design/classes.ts"
import { EyeIcon } from "../design/icons.tsx"
import { money } from "../design/words.ts"
import { FolderName } from "../fleet/folder-name.tsx"
import type { SessionEntry } from "./session-sections.ts"

interface EntryFactsProps {
  readonly entry: SessionEntry
  readonly className: string
}

/** Where it runs, what it cost, who watches. */
export function EntryFacts({ entry: { session, machine }, className }: EntryFactsProps) {
  return (
    <span className={classes("min-w-0 items-center gap-3 text-meta text-text-3", className)}>
      <bdi className="max-w-32 shrink-0 truncate">{machine ?? "by hand"}</bdi>
      {session.cwd !== null && (
        <span title={session.cwd} className="min-w-0 truncate">
          <FolderName session={session} parts={2} />
        </span>
      )}
      {session.costUsd > 0 && <span className="shrink-0 tabular-nums">{money(session.costUsd)}</span>}
      {session.viewers > 0 && (
        <span className="flex shrink-0 items-center gap-1 tabular-nums" title={`${session.viewers} watching`}>
          <EyeIcon size={14} />
          {session.viewers}
          <span className="sr-only">watching</span>
        </span>
      )}
    </span>
  )
}
