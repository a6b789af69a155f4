import { type FormEvent, type KeyboardEvent, useState } from "react"
import { isCoarse } from "../../app/screen.tsx"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { fieldKeys, formText, INPUT, Select } from "../../design/field.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import { DIFF_LOOKS, DIFF_MARKS, DiffText, useChangedParts } from "../../transcript/content/diff-view.tsx"
import type { DiffLine, Hunk, LinePart } from "../../transcript/content/line-diff.ts"
import { isSamePlace, type LineComment } from "./line-comments.tsx"

const MAX_LINES = 200

interface CommentedDiffProps {
  readonly path: string
  readonly hunks: readonly Hunk[]
  readonly comments: readonly LineComment[]
  /** Undefined for those who may not send any. */
  readonly onComment: ((comment: LineComment) => void) | undefined
}

/** One stop for Tab; the arrows go from line to line. */
function onArrow(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
  const lines = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-line]")]
  const at = lines.findIndex((line) => line === document.activeElement)
  if (step === 0 || at === -1) return
  event.preventDefault()
  lines[Math.min(Math.max(at + step, 0), lines.length - 1)]?.focus()
}

/** A difference whose lines can be commented on. One line at a time is open for it. */
export function CommentedDiff({ path, hunks, comments, onComment }: CommentedDiffProps) {
  const [isWhole, setWhole] = useState(false)
  const [open, setOpen] = useState<string | undefined>(undefined)
  const parts = useChangedParts(hunks)
  const lines = hunks.flatMap((hunk, index) => hunk.lines.map((line, at) => ({ line, isFirst: at === 0 && index > 0 })))
  const shown = (isWhole ? lines : lines.slice(0, MAX_LINES)).map((each, index) => {
    const place = placeOf(path, each.line)
    return { ...each, place, key: `${place.kind}:${place.line}:${index}` }
  })
  return (
    <div
      onKeyDown={onArrow}
      className="overflow-hidden rounded-control border border-line bg-sunken font-mono text-dense"
    >
      {onComment !== undefined && isCoarse() && (
        <LineChoice path={path} lines={shown} onChoose={(key) => setOpen(key === "" ? undefined : key)} />
      )}
      {shown.map(({ line, isFirst, place, key }, index) => {
        const comment = comments.find((other) => isSamePlace(other, place))
        return (
          <div key={key} className={classes(isFirst && "border-t border-dashed border-edge")}>
            <Line
              line={line}
              parts={parts.get(line)}
              isStop={index === 0}
              onOpen={onComment === undefined ? undefined : () => setOpen(key)}
            />
            <LineNote
              place={`line ${place.line} of ${path}`}
              words={comment?.words ?? ""}
              isOpen={open === key}
              onOpen={() => setOpen(key)}
              onClose={() => setOpen(undefined)}
              onKeep={(words) => onComment?.({ ...place, code: line.text, words })}
            />
          </div>
        )
      })}
      {shown.length < lines.length && (
        <Button look="quiet" onClick={() => setWhole(true)} className="w-full rounded-none! font-sans">
          Show {plural(lines.length - shown.length, "more line")}
        </Button>
      )}
    </div>
  )
}

interface LineChoiceProps {
  readonly path: string
  readonly lines: readonly {
    readonly key: string
    readonly line: DiffLine
    readonly place: { readonly line: number }
  }[]
  readonly onChoose: (key: string) => void
}

/** For fingers: lines as high as they need would be no text any more. */
function LineChoice({ path, lines, onChoose }: LineChoiceProps) {
  const choices = lines.map(({ key, line, place }) => ({
    value: key,
    label: `${place.line} ${DIFF_MARKS[line.kind]} ${oneLine(line.text, 60)}`,
  }))
  return (
    <Select
      aria-label={`Comment on a line of ${path}`}
      value=""
      choices={[{ value: "", label: "Comment on a line…" }, ...choices]}
      onChange={({ target }) => onChoose(target.value)}
      className="w-full rounded-none! border-0! border-b! border-line! font-sans"
    />
  )
}

function placeOf(path: string, { kind, before, after }: DiffLine) {
  return { path, kind, line: after ?? before ?? 0 }
}

interface LineProps {
  readonly line: DiffLine
  readonly parts: readonly LinePart[] | undefined
  readonly isStop: boolean
  readonly onOpen: (() => void) | undefined
}

function Line({ line, parts, isStop, onOpen }: LineProps) {
  const { kind, before, after } = line
  const number = after ?? before
  return (
    <div className={classes("flex min-h-6 items-start gap-2 pe-2 leading-6", DIFF_LOOKS[kind])}>
      <span
        aria-hidden="true"
        className={classes(
          "w-11 shrink-0 px-2 text-end text-text-3 select-none tabular-nums",
          onOpen !== undefined && "hidden coarse:block",
        )}
      >
        {number}
      </span>
      {onOpen !== undefined && (
        <button
          type="button"
          data-line
          tabIndex={isStop ? 0 : -1}
          aria-label={`Comment on line ${number ?? "?"}${kind === "removed" ? ", removed" : ""}`}
          title="Comment on this line"
          onClick={onOpen}
          className="h-6 w-11 shrink-0 px-2 text-end text-text-3 tabular-nums select-none hover:bg-accent-soft hover:text-accent focus-visible:outline-offset-[-2px] coarse:hidden"
        >
          {number}
        </button>
      )}
      <DiffText line={line} parts={parts} />
    </div>
  )
}

interface LineNoteProps {
  /** "line 3 of a.ts" */
  readonly place: string
  readonly words: string
  readonly isOpen: boolean
  readonly onOpen: () => void
  readonly onKeep: (words: string) => void
  readonly onClose: () => void
}

/** The comment on a line, below it: as it is kept, or being written. Nothing while there is none. */
function LineNote({ isOpen, onOpen, ...note }: LineNoteProps) {
  if (isOpen) return <CommentForm {...note} />
  if (note.words === "") return null
  return (
    <p className="flex items-center gap-2 border-y border-line bg-accent-soft px-3 py-1 font-sans">
      <bdi className="min-w-0 flex-1 whitespace-pre-wrap">{note.words}</bdi>
      <Button look="quiet" aria-label={`Edit comment on ${note.place}`} onClick={onOpen}>
        Edit
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
  const onKey = fieldKeys({
    Escape: onClose,
    Enter: ({ ctrlKey, metaKey, currentTarget }) =>
      ctrlKey || metaKey ? currentTarget.closest("form")?.requestSubmit() : "not-here",
  })
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
          Save comment
        </Button>
      </span>
    </form>
  )
}
