import type { Session } from "@signalbox/client"
import { tokenWords } from "@signalbox/transcript"
import type { ReactNode } from "react"
import { modeWords } from "../agent/session-choices.ts"
import { copyText } from "../app/announcer.tsx"
import { useNow } from "../app/clock.ts"
import { useSession } from "../app/hub-context.ts"
import { Link } from "../app/router.tsx"
import { DownIcon, EyeIcon } from "../design/icons.tsx"
import { clockTime, money } from "../design/words.ts"
import type { LimitUse } from "../fleet/limit-use.ts"
import { FolderName, MachineName } from "../fleet/machine-store.tsx"
import { isSilent, type SessionStatus, StatusGlyph } from "../fleet/session-status.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { type ContextFill, ContextMeter, LimitMeter } from "./meters.tsx"
import { Steering } from "./steering.tsx"

interface SessionFactsProps {
  readonly session: Session
  readonly fill: ContextFill | undefined
  readonly use: LimitUse | undefined
  readonly onTrouble: (why: string | undefined) => void
}

const QUIET_SELECT =
  "field-sizing-content min-h-7! shrink-0 border-transparent! bg-transparent! px-1! py-0! text-dense! hover:bg-sunken! coarse:min-h-11!"

/** The header's second line where it is wide. The folder gives way first; "About this session" has all of it. */
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
      {session.cwd !== null && <Folder session={session} path={session.cwd} />}
      {origin !== undefined && (
        <span className="flex max-w-56 min-w-0 shrink gap-1 @max-4xl:hidden">
          {origin.name} <OriginLink origin={origin} />
        </span>
      )}
      {session.cliVersion !== null && <span className="shrink-0 @max-4xl:hidden">CLI {session.cliVersion}</span>}
      <Steering session={session} onTrouble={onTrouble} place={(_, control) => control} className={QUIET_SELECT} />
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
    </div>
  )
}

function Folder({ session, path }: { readonly session: Session; readonly path: string }) {
  return (
    <button
      type="button"
      onClick={() => copyText(path, "Folder copied")}
      title={`${path} (click to copy)`}
      // The end of a path is what tells: what does not fit is left out at its beginning.
      className="min-h-6 min-w-16 truncate rounded-control font-mono text-meta [direction:rtl] hover:underline coarse:min-h-11"
    >
      <FolderName session={session} parts={3} />
    </button>
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
          <span className="truncate">{mode}</span>
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
