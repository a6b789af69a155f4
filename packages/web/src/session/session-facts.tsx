import type { Session } from "@signalbox/client"
import { tokenWords } from "@signalbox/transcript"
import type { ReactNode } from "react"
import { BYPASS, modeWords } from "../agent/session-choices.ts"
import { useNow } from "../app/clock.ts"
import { useSession } from "../app/hub-context.ts"
import { Link } from "../app/router.tsx"
import { classes } from "../design/classes.ts"
import { DownIcon, EyeIcon } from "../design/icons.tsx"
import { lazyPart, PartBoundary } from "../design/lazy-part.tsx"
import { Skeleton } from "../design/notice.tsx"
import { Popover } from "../design/popover.tsx"
import { oneLine } from "../design/visible-text.tsx"
import { clockTime, money } from "../design/words.ts"
import type { LimitUse } from "../fleet/limit-use.ts"
import { MachineName } from "../fleet/machine-store.tsx"
import { isSilent, type SessionStatus, StatusGlyph } from "../fleet/session-status.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { ChangedLines, changesOf } from "../fleet/session-work.tsx"
import { type ContextFill, ContextMeter, LimitMeter } from "./meters.tsx"
import { Steering } from "./steering.tsx"

interface SessionFactsProps {
  readonly session: Session
  readonly fill: ContextFill | undefined
  readonly use: LimitUse | undefined
  readonly onTrouble: (why: string | undefined) => void
}

const QUIET_SELECT =
  "field-sizing-content min-h-7! shrink-0 border-transparent! bg-transparent! ps-1! pe-6! py-0! text-dense! hover:bg-sunken! coarse:min-h-11!"
/** Nobody is asked: that must be seen from afar. */
const DANGER_SELECT = "font-bold! text-danger! bg-danger-soft!"

const AboutSession = lazyPart(async () => (await import("./about-session.tsx")).AboutSession)

/** The header's second line where it is wide: what the work is about. Model, version and path are in its popover. */
export function SessionFacts({ session, fill, use, onTrouble }: SessionFactsProps) {
  const isAway = isSilent(session, useNow())
  const origin = useOrigin(session)
  return (
    <div className="flex items-center gap-x-4 overflow-x-auto px-4 pt-1 pb-2 text-dense whitespace-nowrap text-text-2 [scrollbar-width:none] @max-xl:hidden @max-3xl:gap-x-3">
      <span className="max-w-40 min-w-8 truncate">
        <MachineName session={session} />
      </span>
      {isAway && session.runnerSeenAt !== undefined && (
        <span className="shrink-0">as of {clockTime(Date.parse(session.runnerSeenAt))}</span>
      )}
      <Work session={session} />
      {origin !== undefined && (
        <span className="flex max-w-56 min-w-0 shrink gap-1 @max-4xl:hidden">
          {origin.name} <OriginLink origin={origin} />
        </span>
      )}
      <Steering
        session={session}
        onTrouble={onTrouble}
        place={(name, control) => (name === "Mode" ? control : null)}
        className={classes(QUIET_SELECT, session.permissionMode === BYPASS && DANGER_SELECT)}
      />
      <ContextMeter fill={fill} />
      <LimitMeter use={use} className="shrink-0 @max-4xl:hidden" />
      {session.costUsd > 0 && (
        <span className="shrink-0 tabular-nums" title={tokenWords(session.tokens)}>
          {money(session.costUsd)}
        </span>
      )}
      {session.viewers > 1 && (
        <span className="flex shrink-0 items-center gap-1 tabular-nums">
          <EyeIcon size={14} />
          {session.viewers}
          <span className="sr-only">watching</span>
        </span>
      )}
      {isAway && session.pendingAsks > 0 && <span className="shrink-0 text-danger">Machine offline; answers wait</span>}
      <Popover
        label="Session details"
        className="ms-auto"
        trigger={
          <>
            Details
            <DownIcon size={14} />
          </>
        }
      >
        {() => (
          <PartBoundary waiting={<Skeleton rows={4} />}>
            <AboutSession session={session} fill={fill} use={use} hasMode={false} />
          </PartBoundary>
        )}
      </Popover>
    </div>
  )
}

/** The branch that the folder is on, and how much is changed there and not committed. */
function Work({ session }: Pick<SessionFactsProps, "session">) {
  const { branch } = session
  const changes = changesOf(session)
  return (
    <>
      {branch !== undefined && branch !== "" && (
        <span title="Branch" className="max-w-56 min-w-8 shrink truncate font-mono text-meta">
          <bdi>{oneLine(branch, 120)}</bdi>
        </span>
      )}
      {changes !== undefined && (
        <ChangedLines changes={changes} className="shrink-0 font-mono text-meta tabular-nums" />
      )}
    </>
  )
}

interface NarrowFactsProps {
  readonly session: Session
  readonly fill: ContextFill | undefined
  readonly status: SessionStatus
  readonly onAbout: () => void
  readonly children: ReactNode
}

/** The header's second line where there is little room: how it stands, and the way to everything else. */
export function NarrowFacts({ session, fill, status, onAbout, children }: NarrowFactsProps) {
  const isAway = isSilent(session, useNow())
  const mode = modeWords(session.permissionMode ?? "default")
  return (
    <div className="text-dense text-text-2 @xl:hidden">
      <div className="flex items-center gap-3 ps-3 pe-2 pb-1">
        <StatusGlyph status={status} withWord />
        <ContextMeter fill={fill} />
        <button
          type="button"
          onClick={onAbout}
          aria-haspopup="dialog"
          aria-label={`${mode}: mode, model and more`}
          className="ms-auto flex min-h-8 min-w-11 items-center justify-end gap-1 rounded-control px-2 hover:bg-sunken coarse:min-h-11"
        >
          <span className={classes("truncate", session.permissionMode === BYPASS && "font-bold text-danger")}>
            {mode}
          </span>
          <DownIcon size={14} />
        </button>
        {children}
      </div>
      {isAway && session.pendingAsks > 0 && <p className="px-3 pb-2 text-danger">Machine offline; answers wait</p>}
    </div>
  )
}

interface Origin {
  readonly id: string
  readonly title: string
  readonly name: "Continues" | "Fork of" | "Comes from"
}

/** The session that this one is a fork of, or that went on in this one. */
export function useOrigin({ id, parent }: Session): Origin | undefined {
  const origin = useSession(parent ?? "")
  if (parent === undefined) return undefined
  // Older than the list reaches: which of the two it is is not known.
  if (origin === undefined) return { id: parent, title: `Session ${parent.slice(0, 8)}`, name: "Comes from" }
  return { id: parent, title: titleOf(origin), name: origin.next === id ? "Continues" : "Fork of" }
}

export function OriginLink({ origin }: { readonly origin: Origin }) {
  return (
    <Link href={`/s/${origin.id}`} title={origin.title} className="min-w-0 truncate text-accent underline">
      <bdi>{origin.title}</bdi>
    </Link>
  )
}
