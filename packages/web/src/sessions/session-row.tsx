import { useNow } from "../app/clock.ts"
import { Link } from "../app/link.tsx"
import { summaryOf } from "../approvals/ask-words.ts"
import { classes } from "../design/classes.ts"
import { EyeIcon } from "../design/icons.tsx"
import { StatusGlyph } from "../design/status-glyph.tsx"
import { oneLine } from "../design/visible-characters.ts"
import { age, clockTime, money, shortPath } from "../design/words.ts"
import { SessionMenu } from "./session-menu.tsx"
import type { SessionEntry } from "./session-sections.ts"
import { isSilent } from "./session-status.ts"
import { titleOf } from "./session-words.ts"

/** The last thing of it that means something: what it asks, where it failed, what it said. */
function lastLineOf({ ask, session, status }: SessionEntry): string {
  if (ask !== undefined) return summaryOf(ask)
  if (status === "starting") return "Waiting for its agent"
  return oneLine(session.lastLine ?? "", 200)
}

/** Since when it is as it is. */
function sinceOf({ ask, session, status }: SessionEntry): string {
  if (ask !== undefined) return ask.askedAt
  return status === "running" ? (session.turnStartedAt ?? session.updatedAt) : session.updatedAt
}

interface RowProps {
  readonly entry: SessionEntry
  readonly compact: boolean
  readonly current: boolean
}

export function SessionRow({ entry, compact, current }: RowProps) {
  const { session, status, ask } = entry
  const now = useNow()
  const silent = isSilent(session, now)
  const since = Date.parse(sinceOf(entry))
  const title = titleOf(session)
  const line = lastLineOf(entry)
  return (
    <div
      role="listitem"
      data-session={session.id}
      className={classes(
        "group relative flex items-center gap-1 rounded-control",
        current ? "bg-accent-soft" : "hover:bg-sunken",
        silent && "opacity-80",
      )}
    >
      <Link
        href={`/s/${session.id}`}
        aria-current={current ? "page" : undefined}
        className="flex min-h-(--row-height) min-w-0 flex-1 items-center gap-3 rounded-control px-(--row-pad) py-1 coarse:min-h-14"
      >
        <StatusGlyph status={status} />
        <span className="flex min-w-0 flex-1 flex-col">
          <span className="flex min-w-0 items-baseline gap-2">
            <bdi className="min-w-0 flex-1 truncate font-medium">{title}</bdi>
            <span className="shrink-0 text-meta text-text-3 tabular-nums">
              {silent && session.runnerSeenAt !== undefined
                ? `as of ${clockTime(Date.parse(session.runnerSeenAt))}`
                : age(since, now)}
            </span>
          </span>
          <span
            className={classes(
              "flex min-w-0 items-baseline gap-2 text-dense text-text-2 in-data-[density=compact]:hidden",
              compact && line === "" && "hidden",
            )}
          >
            <bdi
              className={classes("min-w-0 flex-1 truncate", ask !== undefined && "font-mono text-meta text-caution")}
            >
              {line}
            </bdi>
            {silent && ask !== undefined && (
              <span className="shrink-0 text-meta text-danger">machine offline; your answer will wait</span>
            )}
            {!compact && <Facts entry={entry} />}
          </span>
        </span>
      </Link>
      {!compact && <SessionMenu session={session} className="me-2" />}
    </div>
  )
}

function Facts({ entry: { session, machine } }: { readonly entry: SessionEntry }) {
  return (
    <span className="hidden shrink-0 items-center gap-3 text-meta text-text-3 tablet:flex">
      <bdi>{machine ?? "by hand"}</bdi>
      {session.cwd !== null && <bdi title={session.cwd}>{oneLine(shortPath(session.cwd), 40)}</bdi>}
      {session.costUsd > 0 && <span className="tabular-nums">{money(session.costUsd)}</span>}
      {session.viewers > 0 && (
        <span className="flex items-center gap-1 tabular-nums" title={`${session.viewers} watching`}>
          <EyeIcon size={14} />
          {session.viewers}
          <span className="sr-only">watching</span>
        </span>
      )}
    </span>
  )
}
