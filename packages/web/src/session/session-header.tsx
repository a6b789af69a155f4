import type { Session } from "@signalbox/client"
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react"
import { isReachable } from "../agent/agent-question.ts"
import { useCanOperate } from "../app/hub-context.ts"
import { setPreferences, usePreferences } from "../app/preferences.ts"
import { Link } from "../app/router.tsx"
import { Button, IconButton } from "../design/button.tsx"
import { Dialog } from "../design/dialog.tsx"
import { fieldKeys, formText, INPUT } from "../design/field.tsx"
import { BackIcon, EditIcon, PolicyIcon, SessionsIcon, StopIcon } from "../design/icons.tsx"
import { lazyPart, PartBoundary } from "../design/lazy-part.tsx"
import type { MenuEntry } from "../design/menu.tsx"
import { Skeleton, Trouble } from "../design/notice.tsx"
import { type SessionStatus, StatusGlyph } from "../fleet/session-status.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { useSessionActions, useTrouble } from "../sessions/session-actions.ts"
import { SessionMenu } from "../sessions/session-menu.tsx"
import { useContextFill, useLimitUse } from "./meters.tsx"
import { NarrowFacts, SessionFacts } from "./session-facts.tsx"

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
  const closeDialog = () => setDialog("none")
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
            aria-label="Back to sessions"
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
          {session.enforce === "everything" && (
            <span
              title="Policy judges every tool call"
              className="flex shrink-0 items-center gap-1 text-dense text-text-2 @max-xl:hidden"
            >
              <PolicyIcon size={14} />
              <span className="@max-4xl:sr-only">Policy judges every tool call</span>
            </span>
          )}
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
      {(session.next !== undefined || session.state === "ended" || status === "starting") && (
        <PartBoundary waiting={null}>
          <LaunchNote session={session} status={status} />
        </PartBoundary>
      )}
      {session.enforce === "lost" && (
        <PartBoundary waiting={null}>
          <EnforceNote session={session} />
        </PartBoundary>
      )}
      <div className="px-3 not-empty:pb-2">
        <Trouble onDismiss={() => setTrouble(undefined)}>{trouble}</Trouble>
        <Trouble onDismiss={forgetUndone}>{undone}</Trouble>
      </div>
      <Dialog title={dialog === "none" ? "" : TITLES[dialog]} open={dialog !== "none"} onClose={closeDialog}>
        <div className="flex min-h-24 flex-col gap-4 overflow-y-auto px-4 pt-1 pb-4">
          <PartBoundary resetKey={dialog} waiting={<Skeleton rows={2} />}>
            {dialog === "rewind" && <RewindFiles session={session} onClose={closeDialog} />}
            {dialog === "export" && <ExportSession session={session} />}
            {dialog === "about" && <AboutSession session={session} fill={fill} use={use} />}
          </PartBoundary>
        </div>
      </Dialog>
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

/** The session's name, to be changed where it stands. Enter keeps it, Escape and leaving it let it be. */
function SessionTitle({ session }: { readonly session: Session }) {
  const actions = useSessionActions(session)
  const [isEditing, setEditing] = useState(false)
  const pencil = useRef<HTMLButtonElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const title = titleOf(session)
  useEffect(() => {
    if (isEditing) field.current?.select()
  }, [isEditing])

  function close(): void {
    setEditing(false)
    // After it is there again.
    requestAnimationFrame(() => pencil.current?.focus())
  }

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const next = formText(event.currentTarget, "title")
    if (next !== "" && next !== title) actions?.rename(next)
    close()
  }

  if (isEditing && actions !== undefined) {
    return (
      <form onSubmit={submit} className="min-w-0 flex-1">
        <h1 className="sr-only">{title}</h1>
        <input
          ref={field}
          name="title"
          aria-label="Title"
          defaultValue={title}
          maxLength={200}
          autoComplete="off"
          onKeyDown={fieldKeys({ Escape: close })}
          onBlur={() => setEditing(false)}
          className={`${INPUT} max-w-lg`}
        />
      </form>
    )
  }
  return (
    <div className="flex min-w-0 flex-1 items-center gap-1">
      <h1 className="min-w-0 truncate text-title font-bold">
        <bdi>{title}</bdi>
      </h1>
      {actions !== undefined && (
        <IconButton ref={pencil} label="Rename session" onClick={() => setEditing(true)} className="max-tablet:hidden">
          <EditIcon size={14} />
        </IconButton>
      )}
    </div>
  )
}

/** Dialogs of the session's menu; each is loaded when it is opened. */
const RewindFiles = lazyPart(async () => (await import("./rewind-files.tsx")).RewindFiles)
const ExportSession = lazyPart(async () => (await import("./export-session.tsx")).ExportSession)
const AboutSession = lazyPart(async () => (await import("./about-session.tsx")).AboutSession)
/** Rare, and no part of the first load. */
const LaunchNote = lazyPart(async () => (await import("./launch-note.tsx")).LaunchNote)
const EnforceNote = lazyPart(async () => (await import("./enforce-note.tsx")).EnforceNote)

const TITLES = { rewind: "Rewind files", export: "Export", about: "About this session" } as const
type SessionDialogName = keyof typeof TITLES
