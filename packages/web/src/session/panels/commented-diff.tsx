import { type FormEvent, useRef, useState } from "react"
import { isCoarse } from "../../app/screen.tsx"
import { Button } from "../../design/button.tsx"
import { fieldKeys, INPUT, Select } from "../../design/field.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { DIFF_MARKS } from "../../transcript/content/diff-line.tsx"
import { DiffView } from "../../transcript/content/diff-view.tsx"
import type { DiffLine, Hunk } from "../../transcript/content/line-diff.ts"
import { isSameLine, numberOf } from "./line-comment.ts"

const MAX_ROWS = 200
/** Lines that fingers choose from. */
const MAX_CHOICES = 300

interface CommentedDiffProps {
  readonly path: string
  readonly hunks: readonly Hunk[]
  /** Undefined for those who may not send any. */
  readonly onComment: ((line: DiffLine, words: string) => void) | undefined
}

/** A difference whose lines can be commented on, one at a time. */
export function CommentedDiff({ path, hunks, onComment }: CommentedDiffProps) {
  // Kept here: the row it stands in may be scrolled out of the document.
  const [open, setOpen] = useState<{ readonly line: DiffLine; readonly words: string } | undefined>(undefined)
  const opener = useRef<Element | null>(null)
  if (onComment === undefined) return <DiffView hunks={hunks} path={path} header="counts" maxRows={MAX_ROWS} />
  const start = (line: DiffLine) => {
    opener.current = document.activeElement
    setOpen({ line, words: open !== undefined && isSameLine(open.line, line) ? open.words : "" })
  }
  const close = () => {
    setOpen(undefined)
    if (opener.current instanceof HTMLElement) opener.current.focus()
  }
  const form = open !== undefined && (
    <CommentForm
      place={`line ${numberOf(open.line)} of ${path}`}
      words={open.words}
      onWords={(words) => setOpen({ ...open, words })}
      onAdd={() => {
        if (open.words.trim() !== "") onComment(open.line, open.words)
        close()
      }}
      onClose={close}
    />
  )
  const isTouched = isCoarse()
  return (
    <>
      {isTouched && <LineChoice path={path} hunks={hunks} onChoose={start} />}
      {/* The line itself may be folded, or far down. */}
      {isTouched && form}
      <DiffView
        hunks={hunks}
        path={path}
        header="counts"
        maxRows={MAX_ROWS}
        tools={{
          label: (line) => `Comment on line ${numberOf(line)}${line.kind === "removed" ? ", removed" : ""}`,
          onPress: start,
          below: (line) => !isTouched && open !== undefined && isSameLine(open.line, line) && form,
        }}
      />
    </>
  )
}

interface LineChoiceProps {
  readonly path: string
  readonly hunks: readonly Hunk[]
  readonly onChoose: (line: DiffLine) => void
}

/** For fingers: lines as high as they need would be no text any more. */
function LineChoice({ path, hunks, onChoose }: LineChoiceProps) {
  const lines = hunks.flatMap((hunk) => hunk.lines.filter(({ kind }) => kind !== "same")).slice(0, MAX_CHOICES)
  const choices = lines.map((line, index) => ({
    value: String(index),
    label: `${numberOf(line)} ${DIFF_MARKS[line.kind]} ${oneLine(line.text, 60)}`,
  }))
  return (
    <Select
      aria-label={`Comment on a line of ${path}`}
      value=""
      choices={[{ value: "", label: "Comment on a line…" }, ...choices]}
      onChange={({ target }) => {
        const line = target.value === "" ? undefined : lines[Number(target.value)]
        if (line !== undefined) onChoose(line)
      }}
    />
  )
}

interface CommentFormProps {
  /** "line 3 of a.ts" */
  readonly place: string
  readonly words: string
  readonly onWords: (words: string) => void
  readonly onAdd: () => void
  readonly onClose: () => void
}

function CommentForm({ place, words, onWords, onAdd, onClose }: CommentFormProps) {
  const onKey = fieldKeys({
    Escape: onClose,
    Enter: ({ ctrlKey, metaKey }) => (ctrlKey || metaKey ? onAdd() : "not-here"),
  })
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        onAdd()
      }}
      className="flex flex-col gap-2 border-y border-line bg-surface p-2 font-sans"
    >
      <textarea
        // Somebody asked for this very field.
        autoFocus
        aria-label={`Comment on ${place}`}
        rows={2}
        value={words}
        onChange={({ target }) => onWords(target.value)}
        onKeyDown={onKey}
        className={INPUT}
      />
      <span className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit">
          Add to message
        </Button>
      </span>
    </form>
  )
}
