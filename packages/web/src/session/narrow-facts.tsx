import type { Session } from "@signalbox/client"
import type { ReactNode } from "react"
import { modeWords } from "../agent/session-choices.ts"
import { useNow } from "../app/clock.ts"
import { DownIcon } from "../design/icons.tsx"
import { isSilent, type SessionStatus } from "../fleet/session-status.tsx"
import { StatusGlyph } from "../fleet/status-glyph.tsx"
import { ContextMeter } from "./context-meter.tsx"
import type { ContextFill } from "./meters.tsx"

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
      {isAway && session.pendingAsks > 0 && (
        <p className="px-3 pb-2 text-danger">machine offline; your answer will wait</p>
      )}
    </div>
  )
}
