import { useCallback, useMemo, useState } from "react"
import { useCanOperate } from "../../app/hub-context.ts"
import { useSelected, useValue } from "../../app/value-store.ts"
import { Select } from "../../design/field.tsx"
import { NextIcon } from "../../design/icons.tsx"
import { Empty } from "../../design/notice.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import { changesOf, type FileChange, ofTurn, turnsOf } from "./changes.ts"
import { CommentedDiff } from "./commented-diff.tsx"
import { type LineComment, lineComments, SendComments, setComments, withComment } from "./line-comments.tsx"
import { LoadedNote, toolRowsOf } from "./loaded-rows.tsx"
import type { PanelProps } from "./session-panels.tsx"

const NO_COMMENTS: readonly LineComment[] = []

/** The changes to each file, of all turns or of one; lines can be commented on, in one message. */
export function ChangesPanel({ session, feed }: PanelProps) {
  const view = useValue(feed.view)
  const [turn, setTurn] = useState("")
  const canOperate = useCanOperate()
  const comments = useSelected(
    lineComments,
    useCallback((all: ReadonlyMap<string, readonly LineComment[]>) => all.get(session.id) ?? NO_COMMENTS, [session.id]),
  )
  const { turns, files } = useMemo(() => {
    const tools = toolRowsOf((lane) => feed.laneRows(lane))
    const prompts = turnsOf(feed.laneRows(null))
    return { turns: prompts, files: changesOf(turn === "" ? tools : ofTurn(tools, prompts, Number(turn))) }
    // The rows are the fold's own: that they changed is what the view tells.
  }, [feed, view, turn])
  const choices = [
    { value: "", label: "All turns" },
    ...turns.map(({ seq, words }, index) => ({ value: String(seq), label: `${index + 1}. ${oneLine(words, 60)}` })),
  ]
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2 text-dense text-text-2">
        {turns.length > 1 && (
          <Select aria-label="Turn" value={turn} choices={choices} onChange={({ target }) => setTurn(target.value)} />
        )}
        {files.length > 0 && <TotalCounts files={files} />}
      </div>
      <LoadedNote feed={feed} />
      {files.length === 0 ? (
        <Empty>{turn === "" ? "No files changed yet." : "No files changed in this turn."}</Empty>
      ) : (
        files.map((file) => (
          <ChangedFile
            key={file.path}
            file={file}
            cwd={session.cwd}
            comments={comments}
            onComment={canOperate ? (comment) => setComments(session.id, withComment(comments, comment)) : undefined}
          />
        ))
      )}
      {canOperate && <SendComments session={session} comments={comments} />}
    </div>
  )
}

function TotalCounts({ files }: { readonly files: readonly FileChange[] }) {
  const sum = (of: (file: FileChange) => number) => files.reduce((total, file) => total + of(file), 0)
  return (
    <span className="flex gap-2">
      {plural(files.length, "file")}
      <Counts added={sum((file) => file.added)} removed={sum((file) => file.removed)} />
    </span>
  )
}

function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="shrink-0 font-mono text-meta leading-5 tabular-nums">
      <span className="text-clear">+{added}</span> <span className="text-danger">−{removed}</span>
    </span>
  )
}

interface ChangedFileProps {
  readonly file: FileChange
  readonly cwd: string | null
  readonly comments: readonly LineComment[]
  readonly onComment: ((comment: LineComment) => void) | undefined
}

function ChangedFile({ file, cwd, comments, onComment }: ChangedFileProps) {
  const { path, hunks, added, removed, edits, isNet } = file
  const shown = cwd !== null && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path
  return (
    <details open className="group">
      <summary className="sticky -top-3 flex min-h-8 list-none items-center gap-2 bg-surface text-dense coarse:min-h-11 [&::-webkit-details-marker]:hidden">
        <NextIcon size={12} className="shrink-0 text-text-3 group-open:rotate-90" />
        <bdi title={oneLine(path, 1000)} className="min-w-0 flex-1 truncate font-mono font-medium">
          {oneLine(shown, 200)}
        </bdi>
        <Counts added={added} removed={removed} />
      </summary>
      <div className="flex flex-col gap-1 pt-1">
        {!isNet && <p className="text-meta text-text-3">{edits} edits, in order</p>}
        <CommentedDiff path={shown} hunks={hunks} comments={comments} onComment={onComment} />
      </div>
    </details>
  )
}
