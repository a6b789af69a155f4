import type { Session } from "@signalbox/client"
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react"
import { IconButton } from "../design/button.tsx"
import { formText, INPUT } from "../design/field.tsx"
import { EditIcon } from "../design/icons.tsx"
import { titleOf } from "../fleet/session-words.ts"
import { useSessionActions } from "../sessions/session-actions.ts"

/** The session's name, to be changed where it stands. Enter keeps it, Escape and leaving it let it be. */
export function SessionTitle({ session }: { readonly session: Session }) {
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

  function onKey(event: KeyboardEvent): void {
    if (event.key !== "Escape") return
    event.preventDefault()
    event.stopPropagation()
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
          onKeyDown={onKey}
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
