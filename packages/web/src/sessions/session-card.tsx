import { useNow } from "../app/clock.ts"
import { Link } from "../app/link.tsx"
import { classes } from "../design/classes.ts"
import { isSilent } from "../fleet/session-status.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { StatusGlyph } from "../fleet/status-glyph.tsx"
import { EntryFacts } from "./entry-facts.tsx"
import { lastLineOf, sinceWords } from "./entry-words.ts"
import { SessionMenu } from "./session-menu.tsx"
import type { SessionEntry } from "./session-sections.ts"

/** A session on the board. */
export function SessionCard({ entry }: { readonly entry: SessionEntry }) {
  const { session, status, ask } = entry
  const now = useNow()
  const silent = isSilent(session, now)
  const line = lastLineOf(entry)
  return (
    <div role="listitem" data-session={session.id} className="relative pb-2">
      <Link
        href={`/s/${session.id}`}
        className="flex min-h-16 flex-col gap-1 rounded-control border border-line bg-surface px-3 py-2 hover:border-edge"
      >
        <span className="flex min-w-0 items-start gap-2 pe-8 coarse:pe-11">
          <span className="pt-0.5">
            <StatusGlyph status={status} />
          </span>
          <bdi className={classes("line-clamp-2 min-w-0 flex-1 font-medium", silent && "text-text-3")}>
            {titleOf(session)}
          </bdi>
        </span>
        {line !== "" && (
          <bdi
            className={classes(
              "line-clamp-2 text-dense",
              ask === undefined ? (silent ? "text-text-3" : "text-text-2") : "font-mono text-meta text-caution",
            )}
          >
            {line}
          </bdi>
        )}
        {silent && ask !== undefined && (
          <span className="text-meta text-danger">machine offline; your answer will wait</span>
        )}
        <span className="flex min-w-0 items-center gap-3 text-meta text-text-3">
          <EntryFacts entry={entry} className="flex flex-1" />
          {session.archived && <span className="shrink-0">Archived</span>}
          <span className="shrink-0 tabular-nums">{sinceWords(entry, now)}</span>
        </span>
      </Link>
      <SessionMenu session={session} className="absolute! top-1 right-1" />
    </div>
  )
}
