import type { Session } from "@signalbox/client"
import { type ReactNode, useState } from "react"
import { announce } from "../app/announcer.tsx"
import { useNow } from "../app/clock.ts"
import { useCanOperate } from "../app/hub-context.ts"
import { Link } from "../app/link.tsx"
import { setPreferences, usePreferences } from "../app/preferences.ts"
import { Button } from "../design/button.tsx"
import { BackIcon, EyeIcon, StopIcon } from "../design/icons.tsx"
import type { MenuEntry } from "../design/menu.tsx"
import { Notice } from "../design/notice.tsx"
import { clockTime, money } from "../design/words.ts"
import { FolderName } from "../fleet/folder-name.tsx"
import { MachineName } from "../fleet/machine-name.tsx"
import { isSilent, type SessionStatus } from "../fleet/session-status.ts"
import { StatusGlyph } from "../fleet/status-glyph.tsx"
import { useSessionActions, useTrouble } from "../sessions/session-actions.ts"
import { SessionMenu } from "../sessions/session-menu.tsx"
import { ContextMeter } from "./context-meter.tsx"
import { LaunchNote } from "./launch-note.tsx"
import { isReachable } from "./reachable.ts"
import { SessionDialog, type SessionDialogName } from "./session-dialogs.tsx"
import { SessionTitle } from "./session-title.tsx"
import { Steering } from "./steering.tsx"

interface SessionHeaderProps {
  readonly session: Session
  readonly status: SessionStatus
  readonly trailing: ReactNode
}

export function SessionHeader({ session, status, trailing }: SessionHeaderProps) {
  const [trouble, setTrouble] = useState<string | undefined>(undefined)
  const [undone, forgetUndone] = useTrouble()
  const [dialog, setDialog] = useState<SessionDialogName | "none">("none")
  const actions = useSessionActions(session)
  const menu = useOwnMenu(session, setDialog)
  const isRunning = session.state === "running" || session.state === "waiting"
  return (
    <header className="shrink-0 border-b border-line bg-surface">
      <div className="flex items-center gap-2 px-2 pt-2 tablet:px-4">
        <Link
          href="/sessions"
          aria-label="Back to the sessions"
          className="flex size-8 shrink-0 items-center justify-center rounded-control text-text-2 hover:bg-sunken desktop:hidden coarse:size-11"
        >
          <BackIcon />
        </Link>
        <SessionTitle key={session.id} session={session} />
        <span className="flex shrink-0 items-center max-tablet:hidden">
          <StatusGlyph status={status} withWord />
        </span>
        {actions !== undefined && isRunning && (
          <Button onClick={actions.interrupt} title="Interrupt (Ctrl/⌘ .)">
            <StopIcon size={14} />
            <span className="max-tablet:sr-only">Interrupt</span>
          </Button>
        )}
        {trailing}
        <SessionMenu session={session} own={menu} />
      </div>
      <Facts session={session} status={status} onTrouble={setTrouble} />
      <LaunchNote session={session} status={status} />
      <Trouble why={trouble} onDismiss={() => setTrouble(undefined)} />
      <Trouble why={undone} onDismiss={forgetUndone} />
      <SessionDialog name={dialog} session={session} onClose={() => setDialog("none")} />
    </header>
  )
}

function useOwnMenu(session: Session, onDialog: (name: SessionDialogName) => void) {
  const { detail } = usePreferences()
  const canRewind = useCanOperate() && isReachable(session)
  const actions: readonly MenuEntry[] = [
    ...(canRewind ? [{ label: "Rewind files…", onSelect: () => onDialog("rewind") }] : []),
    { label: "Export…", onSelect: () => onDialog("export") },
  ]
  const choices: readonly MenuEntry[] = (["brief", "normal", "full"] as const).map((level) => ({
    label: `Detail: ${level}`,
    checked: level === detail,
    onSelect: () => setPreferences({ detail: level }),
  }))
  return { actions, choices }
}

interface FactsProps {
  readonly session: Session
  readonly status: SessionStatus
  readonly onTrouble: (why: string | undefined) => void
}

function Facts({ session, status, onTrouble }: FactsProps) {
  const isAway = isSilent(session, useNow())
  return (
    // One line, whatever is in it: the folder gives way first, and what still does not fit can be scrolled to.
    <div className="flex items-center gap-x-4 overflow-x-auto px-3 pt-1 pb-2 text-dense whitespace-nowrap text-text-2 [scrollbar-width:none] max-tablet:[mask-image:linear-gradient(to_right,black_calc(100%-24px),transparent)] tablet:px-4">
      <span className="flex shrink-0 items-center tablet:hidden">
        <StatusGlyph status={status} withWord />
      </span>
      <span className="max-w-40 shrink-0 truncate max-tablet:order-1">
        <MachineName session={session} />
      </span>
      {isAway && session.runnerSeenAt !== undefined && (
        <span className="shrink-0 max-tablet:order-1">as of {clockTime(Date.parse(session.runnerSeenAt))}</span>
      )}
      {session.cwd !== null && <Folder session={session} path={session.cwd} />}
      {session.cliVersion !== null && <span className="shrink-0 max-tablet:hidden">CLI {session.cliVersion}</span>}
      <Steering session={session} onTrouble={onTrouble} />
      <ContextMeter />
      {session.costUsd > 0 && <span className="shrink-0 tabular-nums">{money(session.costUsd)}</span>}
      {session.viewers > 1 && (
        <span className="flex shrink-0 items-center gap-1 tabular-nums">
          <EyeIcon size={14} />
          {session.viewers}
          <span className="sr-only">watching</span>
        </span>
      )}
      {isAway && session.pendingAsks > 0 && (
        <span className="shrink-0 text-danger">machine offline; your answer will wait</span>
      )}
    </div>
  )
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

function Folder({ session, path }: { readonly session: Session; readonly path: string }) {
  const copy = () => {
    navigator.clipboard.writeText(path).then(
      () => announce("Folder copied"),
      () => announce("The browser did not let us copy"),
    )
  }
  return (
    <button
      type="button"
      onClick={copy}
      title={`${path} (click to copy)`}
      // The end of a path is what tells: what does not fit is left out at its beginning.
      className="min-h-6 min-w-16 truncate font-mono text-meta [direction:rtl] hover:underline max-tablet:order-2 coarse:min-h-11"
    >
      <FolderName session={session} parts={3} />
    </button>
  )
}
