import type { FormEvent, KeyboardEvent } from "react"
import { Button } from "../../design/button.tsx"
import { formText, INPUT } from "../../design/field.tsx"

interface LineNoteProps {
  /** "line 3 of a.ts" */
  readonly place: string
  readonly words: string
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onKeep: (words: string) => void
  readonly onClose: () => void
}

/** What is said to a line, below it: as it is kept, or being written. Nothing while there is nothing. */
export function LineNote({ isOpen, onOpen, ...note }: LineNoteProps) {
  if (isOpen) return <CommentForm {...note} />
  if (note.words === "") return null
  return (
    <p className="flex items-center gap-2 border-y border-line bg-accent-soft px-3 py-1 font-sans">
      <bdi className="min-w-0 flex-1 whitespace-pre-wrap">{note.words}</bdi>
      <Button look="quiet" aria-label={`Change the comment on ${note.place}`} onClick={onOpen}>
        Change
      </Button>
    </p>
  )
}

function CommentForm({ place, words, onKeep, onClose }: Omit<LineNoteProps, "isOpen" | "onOpen">) {
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    onKeep(formText(event.currentTarget, "words"))
    onClose()
  }
  function onKey(event: KeyboardEvent<HTMLTextAreaElement>): void {
    if (event.key === "Escape") onClose()
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-2 border-y border-line bg-surface p-2 font-sans">
      <textarea
        // Somebody asked for this very field.
        ref={(field) => field?.focus()}
        name="words"
        aria-label={`Comment on ${place}`}
        rows={2}
        defaultValue={words}
        onKeyDown={onKey}
        className={INPUT}
      />
      <span className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit">
          Keep comment
        </Button>
      </span>
    </form>
  )
}
