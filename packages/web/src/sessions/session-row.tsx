import type { Session } from "@signalbox/client"
import { useNow } from "../app/clock.ts"
import { Link } from "../app/router.tsx"
import { classes } from "../design/classes.ts"
import { EyeIcon, PinIcon } from "../design/icons.tsx"
import { money } from "../design/words.ts"
import { FolderName } from "../fleet/machine-store.tsx"
import { isSilent, StatusGlyph } from "../fleet/session-status.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { lastLineOf, sinceWords } from "./entry-words.ts"
import { SessionMenu } from "./session-menu.tsx"
import type { SessionEntry } from "./session-sections.ts"

interface RowProps {
  readonly entry: SessionEntry
  readonly compact: boolean
  readonly current: boolean
  readonly search?: string
}

export function SessionRow({ entry, compact, current, search = "" }: RowProps) {
  const { session, status, ask } = entry
  const now = useNow()
  const silent = isSilent(session, now)
  const line = lastLineOf(entry)
  return (
    <div
      role="listitem"
      data-session={session.id}
      className={classes(
        "group relative flex items-center gap-1 rounded-control",
        current ? "bg-accent-soft" : "hover:bg-sunken",
      )}
    >
      <Link
        href={`/s/${session.id}${search}`}
        aria-current={current ? "page" : undefined}
        className="flex min-h-(--row-height) min-w-0 flex-1 items-center gap-3 rounded-control px-(--row-pad) py-1 coarse:min-h-[max(var(--row-height),2.75rem)]"
      >
        <StatusGlyph status={status} />
        <span
          className={classes(
            "flex min-w-0 flex-1 flex-col",
            !compact && "one-line:flex-row one-line:items-baseline one-line:gap-3",
          )}
        >
          <span className={classes("flex min-w-0 items-baseline gap-2", !compact && "one-line:contents")}>
            {/* Dimmed by a colour that can still be read, not by letting the ground through. */}
            <bdi
              className={classes(
                "min-w-0 flex-1 truncate font-medium",
                !compact && "one-line:max-w-[40%] one-line:flex-none",
                silent && "text-text-3",
              )}
            >
              {titleOf(session)}
            </bdi>
            <PinMark session={session} />
            {session.archived && <span className="shrink-0 text-meta text-text-3">Archived</span>}
            <NotEnforced session={session} />
            <span className="shrink-0 text-meta text-text-3 tabular-nums one-line:order-last">
              {sinceWords(entry, now)}
            </span>
          </span>
          <span
            className={classes(
              "flex min-w-0 items-baseline gap-2 text-dense in-data-[density=compact]:hidden",
              silent ? "text-text-3" : "text-text-2",
              compact ? line === "" && "hidden" : "one-line:flex one-line:flex-1",
            )}
          >
            <bdi
              className={classes("min-w-0 flex-1 truncate", ask !== undefined && "font-mono text-meta text-caution")}
            >
              {line === "" ? "No messages yet" : line}
            </bdi>
            {silent && ask !== undefined && (
              <span className="shrink-0 text-meta text-danger">Machine offline; answers wait</span>
            )}
            {!compact && <EntryFacts entry={entry} className="hidden shrink-0 tablet:flex" />}
          </span>
        </span>
      </Link>
      {!compact && <SessionMenu session={session} className="me-2" />}
    </div>
  )
}

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
          <PinMark session={session} />
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
        {silent && ask !== undefined && <span className="text-meta text-danger">Machine offline; answers wait</span>}
        <NotEnforced session={session} />
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

function PinMark({ session: { pinned } }: { readonly session: Pick<Session, "pinned"> }) {
  if (!pinned) return null
  return (
    <span title="Pinned" className="shrink-0 self-center text-text-3">
      <PinIcon size={14} />
      <span className="sr-only">Pinned</span>
    </span>
  )
}

/** A tool ran that the policy was to judge and did not. The session itself says what to do. */
function NotEnforced({ session: { enforce } }: { readonly session: Pick<Session, "enforce"> }) {
  if (enforce !== "lost") return null
  return <span className="shrink-0 text-meta font-medium text-danger">Not enforced</span>
}

interface EntryFactsProps {
  readonly entry: SessionEntry
  readonly className: string
}

/** Where it runs, what it cost, who watches. */
function EntryFacts({ entry: { session, machine }, className }: EntryFactsProps) {
  return (
    <span className={classes("min-w-0 items-center gap-3 text-meta text-text-3", className)}>
      <bdi className="max-w-32 shrink-0 truncate">{machine ?? "External"}</bdi>
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
