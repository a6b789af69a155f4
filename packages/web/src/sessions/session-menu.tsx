import type { Session } from "@signalbox/client"
import { useEffect, useRef, useState } from "react"
import { navigate } from "../app/router.tsx"
import { useSelected } from "../app/value-store.ts"
import { Button } from "../design/button.tsx"
import { Confirm, Dialog } from "../design/dialog.tsx"
import { formText, TextField } from "../design/field.tsx"
import { MoreIcon } from "../design/icons.tsx"
import { Menu, type MenuEntry } from "../design/menu.tsx"
import { archiveConsequence, stopConsequence, titleOf } from "../fleet/session-words.ts"
import { selection, toggleSelected } from "./selection.ts"
import { useSessionActions } from "./session-actions.ts"

interface SessionMenuProps {
  readonly session: Session
  readonly className?: string
  /** On the session's own screen there is no need to open it, but more to do with it and to choose. */
  readonly own?: { readonly actions: readonly MenuEntry[]; readonly choices: readonly MenuEntry[] }
}

export function SessionMenu({ session, className, own }: SessionMenuProps) {
  const actions = useSessionActions(session)
  const isSelected = useSelected(selection, ({ ids }) => ids.has(session.id))
  const [dialog, setDialog] = useState<"none" | "rename" | "archive" | "stop">("none")
  const title = titleOf(session)
  const isRunning = session.state === "running" || session.state === "waiting"
  const entry = (label: string, onSelect: () => void) => ({ label, onSelect })
  const entries: readonly MenuEntry[] = [
    ...(own === undefined ? [entry("Open", () => navigate(`/s/${session.id}`))] : []),
    ...(actions === undefined
      ? []
      : [
          entry("Rename…", () => setDialog("rename")),
          session.pinned ? entry("Unpin", () => actions.pin(false)) : entry("Pin", () => actions.pin(true)),
        ]),
    ...(actions !== undefined && isRunning ? [entry("Interrupt", actions.interrupt)] : []),
    ...(actions === undefined || session.agentSessionId === null
      ? []
      : [entry("Fork…", () => navigate(`/new?fork=${encodeURIComponent(session.id)}`))]),
    ...(actions === undefined || own !== undefined
      ? []
      : [entry(isSelected ? "Deselect" : "Select", () => toggleSelected(session.id))]),
    ...(own?.actions ?? []),
    ...(actions === undefined
      ? []
      : session.archived
        ? [entry("Unarchive", () => actions.archive(false))]
        : session.pendingAsks > 0
          ? [entry("Archive…", () => setDialog("archive"))]
          : [entry("Archive", () => actions.archive(true))]),
    ...(own?.choices ?? []),
    ...(actions === undefined || session.state === "ended"
      ? []
      : [{ label: "Stop session…", onSelect: () => setDialog("stop"), danger: true }]),
  ]
  const close = () => setDialog("none")
  return (
    <>
      <Menu
        label={`Menu of ${title}`}
        trigger={<MoreIcon />}
        entries={entries}
        {...(className === undefined ? {} : { className })}
      />
      {actions !== undefined && (
        <>
          <Rename open={dialog === "rename"} title={title} onClose={close} onRename={actions.rename} />
          <ConfirmArchive
            session={session}
            open={dialog === "archive"}
            onClose={close}
            onConfirm={() => actions.archive(true)}
          />
          <Confirm
            title={`Stop “${title}”?`}
            consequence={stopConsequence(session)}
            action="Stop session"
            open={dialog === "stop"}
            onClose={close}
            onConfirm={actions.stop}
          />
        </>
      )}
    </>
  )
}

interface RenameProps {
  readonly open: boolean
  readonly title: string
  readonly onClose: () => void
  readonly onRename: (title: string) => void
}

function Rename({ open, title, onClose, onRename }: RenameProps) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (open) field.current?.select()
  }, [open])
  return (
    <Dialog title="Rename session" open={open} onClose={onClose} className="max-w-md">
      <form
        className="flex flex-col gap-3 px-4 pb-4"
        onSubmit={(event) => {
          event.preventDefault()
          const next = formText(event.currentTarget, "title")
          if (next !== "") onRename(next)
          onClose()
        }}
      >
        <TextField ref={field} label="Title" name="title" defaultValue={title} maxLength={200} autoComplete="off" />
        <div className="flex justify-end gap-3">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit">
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface ConfirmArchiveProps {
  readonly session: Session
  readonly open: boolean
  readonly onClose: () => void
  readonly onConfirm: () => void
}

/** Somebody waits for an answer: it is not put away by one key. */
export function ConfirmArchive({ session, ...rest }: ConfirmArchiveProps) {
  return (
    <Confirm
      title={`Archive “${titleOf(session)}”?`}
      consequence={archiveConsequence(session)}
      action="Archive"
      {...rest}
    />
  )
}
