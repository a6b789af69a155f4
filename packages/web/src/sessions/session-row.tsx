import type { Session } from "@signalbox/client"
import { useNow } from "../app/clock.ts"
import { useCanOperate } from "../app/hub-context.ts"
import { Link } from "../app/router.tsx"
import { useSelected } from "../app/value-store.ts"
import { classes } from "../design/classes.ts"
import { BranchIcon, EyeIcon, PinIcon } from "../design/icons.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { money } from "../design/words.ts"
import { isCommand } from "../fleet/ask-words.ts"
import { FolderName } from "../fleet/machine-store.tsx"
import { isSilent, StatusGlyph } from "../fleet/session-status.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { ChangedLines, changesOf } from "../fleet/session-work.tsx"
import { lastLineOf, sinceWords } from "./entry-words.ts"
import { selection, selectTo, toggleSelected } from "./selection.ts"
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
        "group relative flex items-center gap-1 rounded-control has-checked:bg-accent-soft",
        current ? "bg-accent-soft" : "hover:bg-sunken",
      )}
    >
      {!compact && <SelectBox session={session} />}
      <Link
        href={`/s/${session.id}${search}`}
        aria-current={current ? "page" : undefined}
        className="flex min-h-(--row-height) min-w-0 flex-1 items-center gap-3 rounded-control px-(--row-pad) py-1 -outline-offset-2! not-first:ps-1 coarse:not-first:ps-(--row-pad) coarse:min-h-[max(var(--row-height),2.75rem)]"
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
            {!compact && <Cost session={session} className="tablet:hidden in-data-[density=compact]:hidden" />}
            {/* Low rows on a phone have one line: the work stays, the last words go. */}
            {!compact && (
              <WorkFacts session={session} className="hidden in-data-[density=compact]:flex tablet:hidden!" />
            )}
            <span className="shrink-0 text-meta text-text-3 tabular-nums one-line:order-last">
              {sinceWords(entry, now)}
            </span>
          </span>
          <span
            className={classes(
              "flex min-w-0 items-baseline gap-2 text-dense in-data-[density=compact]:hidden",
              silent ? "text-text-3" : "text-text-2",
              compact ? line === "" && !hasWork(session) && "hidden" : "one-line:flex one-line:flex-1",
            )}
          >
            <bdi
              className={classes(
                "min-w-24 flex-1 truncate",
                ask !== undefined && "text-caution",
                ask !== undefined && isCommand(ask) && "font-mono text-meta",
              )}
            >
              {line === "" ? "No messages yet" : line}
            </bdi>
            {silent && ask !== undefined && (
              <span className="shrink-0 text-meta text-danger">Machine offline; answers wait</span>
            )}
            {/* The request needs the room more than what was done. */}
            <WorkFacts session={session} className={ask === undefined ? "flex" : "hidden tablet:flex"} />
            {/* Beside the work a phone has no room for it: the last words need that more. */}
            {!compact && ask === undefined && !hasWork(session) && (
              <Branch session={session} className="flex shrink-0 tablet:hidden" />
            )}
            {!compact && <EntryFacts entry={entry} className="hidden tablet:flex" />}
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
  const isSelected = useSelected(selection, ({ ids }) => ids.has(session.id))
  return (
    <div role="listitem" data-session={session.id} className="relative pb-2">
      <Link
        href={`/s/${session.id}`}
        className={classes(
          "flex min-h-16 flex-col gap-1 rounded-control border px-3 py-2",
          isSelected ? "border-accent bg-accent-soft" : "border-line bg-surface hover:border-edge",
        )}
      >
        {isSelected && <span className="sr-only">Selected</span>}
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
              ask === undefined ? (silent ? "text-text-3" : "text-text-2") : "text-caution",
              ask !== undefined && isCommand(ask) && "font-mono text-meta",
            )}
          >
            {line}
          </bdi>
        )}
        {silent && ask !== undefined && <span className="text-meta text-danger">Machine offline; answers wait</span>}
        <NotEnforced session={session} />
        <WorkFacts session={session} className="flex" />
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

/** To choose it for something that is done to several. It is there for a pointer, a key, and while any is chosen. */
function SelectBox({ session }: { readonly session: Session }) {
  const isSelected = useSelected(selection, ({ ids }) => ids.has(session.id))
  const isSelecting = useSelected(selection, ({ ids }) => ids.size > 0)
  if (!useCanOperate()) return null
  return (
    <label
      className={classes(
        "flex w-7 shrink-0 items-center justify-center self-stretch",
        isSelecting ? "coarse:w-11" : "opacity-0 group-hover:opacity-100 focus-within:opacity-100 coarse:hidden",
      )}
    >
      <input
        type="checkbox"
        aria-label={`Select ${titleOf(session)}`}
        checked={isSelected}
        onChange={({ nativeEvent }) =>
          nativeEvent instanceof MouseEvent && nativeEvent.shiftKey ? selectTo(session.id) : toggleSelected(session.id)
        }
        className="size-4"
      />
    </label>
  )
}

function Cost({ session: { costUsd }, className }: { readonly session: Session; readonly className?: string }) {
  if (costUsd <= 0) return null
  return <span className={classes("shrink-0 text-meta text-text-3 tabular-nums", className)}>{money(costUsd)}</span>
}

function hasWork(session: Session): boolean {
  return session.progress !== undefined || changesOf(session) !== undefined
}

/** How far it is, and what it changed. */
function WorkFacts({ session, className }: { readonly session: Session; readonly className: string }) {
  const { progress } = session
  const changes = changesOf(session)
  if (progress === undefined && changes === undefined) return null
  return (
    <span className={classes("me-1 shrink-0 items-baseline gap-3 text-meta text-text-3 tabular-nums", className)}>
      {progress !== undefined && (
        <span title={`${progress.done} of ${progress.total} tasks done`}>
          <span aria-hidden="true">
            {progress.done}/{progress.total}
          </span>
          <span className="sr-only">{`${progress.done} of ${progress.total} tasks done`}</span>
        </span>
      )}
      {changes !== undefined && <ChangedLines changes={changes} className="whitespace-nowrap" />}
    </span>
  )
}

function Branch({ session: { branch }, className }: { readonly session: Session; readonly className: string }) {
  if (branch === undefined || branch === "") return null
  return (
    <span
      title={`Branch ${oneLine(branch, 200)}`}
      className={classes("min-w-0 items-baseline gap-1 text-meta text-text-3", className)}
    >
      <BranchIcon size={12} className="shrink-0 self-center" />
      <span className="sr-only">Branch </span>
      <bdi className="max-w-28 min-w-0 truncate">{oneLine(branch, 80)}</bdi>
    </span>
  )
}

/** Where it runs, what it cost, who watches. */
function EntryFacts({ entry: { session, machine }, className }: EntryFactsProps) {
  return (
    <span className={classes("min-w-0 items-baseline gap-3 text-meta text-text-3", className)}>
      <Branch session={session} className="flex" />
      <bdi className="max-w-32 shrink-0 truncate">{machine ?? "External"}</bdi>
      {session.cwd !== null && (
        <span title={session.cwd} className="hidden max-w-44 min-w-0 truncate desktop:inline">
          <FolderName session={session} parts={2} />
        </span>
      )}
      <Cost session={session} />
      {session.viewers > 0 && (
        <span className="flex shrink-0 items-baseline gap-1 tabular-nums" title={`${session.viewers} watching`}>
          <EyeIcon size={14} className="self-center" />
          {session.viewers}
          <span className="sr-only">watching</span>
        </span>
      )}
    </span>
  )
}
