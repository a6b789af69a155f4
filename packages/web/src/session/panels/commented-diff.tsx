import { type FormEvent, useRef, useState } from "react"
import { isCoarse } from "../../app/screen.tsx"
import { Button } from "../../design/button.tsx"
import { fieldKeys, INPUT, Select } from "../../design/field.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { DIFF_MARKS } from "../../transcript/content/diff-line.tsx"
import { DiffView } from "../../transcript/content/diff-view.tsx"
import type { DiffLine, Hunk } from "../../transcript/content/line-diff.ts"
import { useTranscript } from "../../transcript/rows/transcript-context.tsx"
import { isSameLine, type LineComment, numberOf, withLine } from "./line-comment.ts"

const MAX_ROWS = 200
/** Lines that fingers choose from. */
const MAX_CHOICES = 300

const NONE: readonly LineComment[] = []
/** Half-written comments by session and file: folding the file or closing the panel loses none. */
const keptComments = new Map<string, readonly LineComment[]>()
/** Files with comments that are kept; the oldest go first. */
const MAX_KEPT = 50

function keepComments(key: string, comments: readonly LineComment[]): void {
  const written = comments.filter(({ words }) => words.trim() !== "")
  keptComments.delete(key)
  if (written.length > 0) keptComments.set(key, written)
  const [oldest] = keptComments.keys()
  if (keptComments.size > MAX_KEPT && oldest !== undefined) keptComments.delete(oldest)
}

interface CommentedDiffProps {
  readonly path: string
  readonly hunks: readonly Hunk[]
  /** Undefined for those who may not send any. */
  readonly onComment: ((line: DiffLine, words: string) => void) | undefined
}

/** A difference whose lines can be commented on. A comment that is half written stays until it is added or cancelled. */
export function CommentedDiff({ path, hunks, onComment }: CommentedDiffProps) {
  const { sessionId } = useTranscript()
  const key = JSON.stringify([sessionId, path])
  const [comments, setComments] = useState(() => keptComments.get(key) ?? NONE)
  // Fields that are there again take no focus.
  const [opened, setOpened] = useState<DiffLine | undefined>(undefined)
  const opener = useRef<Element | null>(null)
  if (onComment === undefined) return <DiffView hunks={hunks} path={path} header="counts" maxRows={MAX_ROWS} />
  const keep = (next: readonly LineComment[]) => {
    keepComments(key, next)
    setComments(next)
  }
  const start = (line: DiffLine) => {
    opener.current = document.activeElement
    setOpened(line)
    keep(withLine(comments, line))
  }
  const formOf = ({ line, words }: LineComment) => {
    const close = () => {
      keep(comments.filter((other) => !isSameLine(other.line, line)))
      if (opener.current instanceof HTMLElement) opener.current.focus()
    }
    return (
      <CommentForm
        key={`${line.kind} ${numberOf(line)}`}
        place={`line ${numberOf(line)} of ${path}`}
        words={words}
        takesFocus={opened !== undefined && isSameLine(opened, line)}
        onWords={(changed) =>
          keep(comments.map((other) => (isSameLine(other.line, line) ? { line, words: changed } : other)))
        }
        onAdd={() => {
          if (words.trim() !== "") onComment(line, words)
          close()
        }}
        onClose={close}
      />
    )
  }
  const isTouched = isCoarse()
  return (
    <>
      {isTouched && <LineChoice path={path} hunks={hunks} onChoose={start} />}
      {/* The line itself may be folded, or far down. */}
      {isTouched && comments.map(formOf)}
      <DiffView
        hunks={hunks}
        path={path}
        header="counts"
        maxRows={MAX_ROWS}
        tools={{
          label: (line) => `Comment on line ${numberOf(line)}${line.kind === "removed" ? ", removed" : ""}`,
          onPress: start,
          below: (line) => !isTouched && comments.filter((comment) => isSameLine(comment.line, line)).map(formOf),
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
  readonly takesFocus: boolean
  readonly onWords: (words: string) => void
  readonly onAdd: () => void
  readonly onClose: () => void
}

function CommentForm({ place, words, takesFocus, onWords, onAdd, onClose }: CommentFormProps) {
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
        autoFocus={takesFocus}
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
