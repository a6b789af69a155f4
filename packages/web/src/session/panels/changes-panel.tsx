import { useMemo, useState } from "react"
import { announce } from "../../app/announcer.tsx"
import { useCanOperate } from "../../app/hub-context.ts"
import { useValue } from "../../app/value-store.ts"
import { Button } from "../../design/button.tsx"
import { ChangeCounts } from "../../design/change-counts.tsx"
import { Select } from "../../design/field.tsx"
import { NextIcon } from "../../design/icons.tsx"
import { Empty } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import type { DiffLine } from "../../transcript/content/line-diff.ts"
import { addToDraft } from "../composer/drafts.ts"
import { changesOf, type FileChange, ofTurn, turnsOf } from "./changes.ts"
import { CommentedDiff } from "./commented-diff.tsx"
import { FileTree } from "./file-tree-view.tsx"
import { commentText } from "./line-comment.ts"
import { LoadedNote, toolRowsOf } from "./loaded-rows.tsx"
import type { PanelProps } from "./session-panels.tsx"

/** Files whose changes are in the document unasked. */
const OPEN_FILES = 10
const STEP = 100

/** The changes to each file, of all turns or of one; a comment on a line goes into the message, to be sent with it. */
export function ChangesPanel({ session, feed }: PanelProps) {
  const view = useValue(feed.view)
  const [turn, setTurn] = useState("")
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [limit, setLimit] = useState(STEP)
  const canOperate = useCanOperate()
  const { turns, files } = useMemo(() => {
    const tools = toolRowsOf((lane) => feed.laneRows(lane))
    const prompts = turnsOf(feed.laneRows(null))
    const changes = changesOf(turn === "" ? tools : ofTurn(tools, prompts, Number(turn)))
    return { turns: prompts, files: changes.map((file) => ({ ...file, path: pathIn(file.path, session.cwd) })) }
    // The rows are the fold's own: that they changed is what the view tells.
  }, [feed, view, turn, session.cwd])
  const choices = [
    { value: "", label: "All turns" },
    ...turns.map(({ seq, words }, index) => ({ value: String(seq), label: `${index + 1}. ${oneLine(words, 60)}` })),
  ]
  const setOpen = (path: string, isOpen: boolean) => setChosen((now) => new Map([...now, [path, isOpen]]))
  const show = (path: string) => {
    setOpen(path, true)
    setLimit(Math.max(limit, files.findIndex((file) => file.path === path) + 1))
    // Once it is drawn.
    requestAnimationFrame(() => {
      const file = [...document.querySelectorAll<HTMLElement>("[data-file]")].find(
        ({ dataset }) => dataset["file"] === path,
      )
      file?.focus({ preventScroll: true })
      file?.scrollIntoView({ block: "start" })
    })
  }
  const comment = (path: string) => (line: DiffLine, words: string) => {
    addToDraft(session.id, commentText(path, line, words))
    announce("Added to your message")
  }
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2 text-dense text-text-2">
        {turns.length > 1 && (
          <Select aria-label="Turn" value={turn} choices={choices} onChange={({ target }) => setTurn(target.value)} />
        )}
        {files.length > 0 && <TotalCounts files={files} />}
      </div>
      <LoadedNote feed={feed} />
      {files.length > 1 && <FileTree files={files} onChoose={show} />}
      {files.length === 0 && <Empty>{turn === "" ? "No files changed yet." : "No files changed in this turn."}</Empty>}
      {files.slice(0, limit).map((file, index) => (
        <ChangedFile
          key={file.path}
          file={file}
          isOpen={chosen.get(file.path) ?? index < OPEN_FILES}
          onOpen={(isOpen) => setOpen(file.path, isOpen)}
          onComment={canOperate ? comment(file.path) : undefined}
        />
      ))}
      {files.length > limit && (
        <Button look="quiet" onClick={() => setLimit(limit + STEP)}>
          Show {plural(files.length - limit, "more file")}
        </Button>
      )}
    </div>
  )
}

/** Within the session's folder, from there. */
function pathIn(path: string, cwd: string | null): string {
  return cwd !== null && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path
}

function TotalCounts({ files }: { readonly files: readonly FileChange[] }) {
  const sum = (of: (file: FileChange) => number) => files.reduce((total, file) => total + of(file), 0)
  return (
    <span className="flex gap-2">
      {plural(files.length, "file")}
      <ChangeCounts added={sum((file) => file.added)} removed={sum((file) => file.removed)} />
    </span>
  )
}

interface ChangedFileProps {
  readonly file: FileChange
  readonly isOpen: boolean
  readonly onOpen: (isOpen: boolean) => void
  readonly onComment: ((line: DiffLine, words: string) => void) | undefined
}

function ChangedFile({ file, isOpen, onOpen, onComment }: ChangedFileProps) {
  const { path, hunks, edits, isNet } = file
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => onOpen(currentTarget.open)} className="group">
      <summary
        data-file={path}
        className="sticky -top-3 z-1 flex min-h-8 list-none items-center gap-2 bg-surface text-dense coarse:min-h-11 [&::-webkit-details-marker]:hidden"
      >
        <NextIcon size={12} className="shrink-0 text-text-3 group-open:rotate-90" />
        <bdi title={oneLine(path, 1000)} className="min-w-0 flex-1 truncate font-mono font-medium">
          {oneLine(path, 200)}
        </bdi>
      </summary>
      {isOpen && (
        <div className="flex flex-col gap-1 pt-1">
          {!isNet && <p className="text-meta text-text-3">{edits} edits, in order</p>}
          <CommentedDiff path={path} hunks={hunks} onComment={onComment} />
        </div>
      )}
    </details>
  )
}
