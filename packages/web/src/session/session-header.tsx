import type { Session } from "@signalbox/client"
import { type ReactNode, useState } from "react"
import { isReachable } from "../agent/reachable.ts"
import { useCanOperate } from "../app/hub-context.ts"
import { Link } from "../app/link.tsx"
import { setPreferences, usePreferences } from "../app/preferences.ts"
import { Button, IconButton } from "../design/button.tsx"
import { BackIcon, SessionsIcon, StopIcon } from "../design/icons.tsx"
import type { MenuEntry } from "../design/menu.tsx"
import { Notice } from "../design/notice.tsx"
import type { SessionStatus } from "../fleet/session-status.tsx"
import { StatusGlyph } from "../fleet/status-glyph.tsx"
import { useSessionActions, useTrouble } from "../sessions/session-actions.ts"
import { SessionMenu } from "../sessions/session-menu.tsx"
import { useContextFill } from "./context-meter.tsx"
import { LaunchNote } from "./launch-note.tsx"
import { useLimitUse } from "./limit-meter.tsx"
import { NarrowFacts } from "./narrow-facts.tsx"
import { SessionDialog, type SessionDialogName } from "./session-dialogs.tsx"
import { SessionFacts } from "./session-facts.tsx"
import { SessionTitle } from "./session-title.tsx"

interface SessionHeaderProps {
  readonly session: Session
  readonly status: SessionStatus
  readonly onList: () => void
  readonly trailing: ReactNode
}

export function SessionHeader({ session, status, onList, trailing }: SessionHeaderProps) {
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  const [undone, forgetUndone] = useTrouble()
  const [dialog, setDialog] = useState<SessionDialogName | "none">("none")
  const actions = useSessionActions(session)
  const fill = useContextFill()
  const use = useLimitUse()
  const menu = useOwnMenu(session, setDialog)
  const isRunning = session.state === "running" || session.state === "waiting"
  return (
    <header className="shrink-0 border-b border-line bg-surface">
      <div className="@container">
        <div className="flex items-center gap-2 px-2 pt-2 @max-xl:gap-1 @max-xl:pt-1 @xl:px-4">
          <Link
            href="/sessions"
            aria-label="Back to the sessions"
            className="flex size-8 shrink-0 items-center justify-center rounded-control text-text-2 hover:bg-sunken tablet:hidden coarse:size-11"
          >
            <BackIcon />
          </Link>
          <IconButton
            label="Other sessions"
            aria-haspopup="dialog"
            onClick={onList}
            className="shrink-0 max-tablet:hidden desktop:hidden"
          >
            <SessionsIcon />
          </IconButton>
          <SessionTitle key={session.id} session={session} />
          <span className="flex shrink-0 items-center @max-xl:hidden">
            <StatusGlyph status={status} withWord />
          </span>
          {actions !== undefined && isRunning && (
            <Button onClick={actions.interrupt} title="Interrupt (Ctrl/⌘ .)">
              <StopIcon size={14} />
              <span className="@max-xl:sr-only">Interrupt</span>
            </Button>
          )}
          <span className="@max-xl:hidden">{trailing}</span>
          <SessionMenu session={session} own={menu} />
        </div>
        <SessionFacts session={session} fill={fill} use={use} onTrouble={setTrouble} />
        <NarrowFacts session={session} fill={fill} status={status} onAbout={() => setDialog("about")}>
          {trailing}
        </NarrowFacts>
      </div>
      <LaunchNote session={session} status={status} />
      <Trouble why={trouble} onDismiss={() => setTrouble(undefined)} />
      <Trouble why={undone} onDismiss={forgetUndone} />
      <SessionDialog name={dialog} session={session} fill={fill} use={use} onClose={() => setDialog("none")} />
    </header>
  )
}

function useOwnMenu(session: Session, onDialog: (name: SessionDialogName) => void) {
  const { detail } = usePreferences()
  const canRewind = useCanOperate() && isReachable(session)
  const actions: readonly MenuEntry[] = [
    ...(canRewind ? [{ label: "Rewind files…", onSelect: () => onDialog("rewind") }] : []),
    { label: "Export…", onSelect: () => onDialog("export") },
    { label: "About this session…", onSelect: () => onDialog("about") },
  ]
  const choices: readonly MenuEntry[] = (["brief", "normal", "full"] as const).map((level) => ({
    label: `Detail: ${level}`,
    checked: level === detail,
    onSelect: () => setPreferences({ detail: level }),
  }))
  return { actions, choices }
}

function Trouble({ why, onDismiss }: { readonly why: string | undefined; readonly onDismiss: () => void }) {
  if (why === undefined) return null
  return (
    <div className="px-3 pb-2">
      <Notice tone="danger" alert>
        {why}
        <Button look="quiet" className="ms-auto" onClick={onDismiss}>
          Dismiss
        </Button>
      </Notice>
    </div>
  )
}
