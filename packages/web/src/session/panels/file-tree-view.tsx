import { type KeyboardEvent, useMemo, useRef, useState } from "react"
import { Button } from "../../design/button.tsx"
import { ChangeCounts } from "../../design/change-counts.tsx"
import { classes } from "../../design/classes.ts"
import { NextIcon } from "../../design/icons.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { plural } from "../../design/words.ts"
import type { FileChange } from "./changes.ts"
import { treeRows, treeStep } from "./file-tree.ts"

const STEP = 300

interface FileTreeProps {
  readonly files: readonly Pick<FileChange, "path" | "added" | "removed">[]
  readonly onChoose: (path: string) => void
}

/** The changed files by folder. One stop for Tab; arrows go through it, Enter leads to a file's changes. */
export function FileTree({ files, onChoose }: FileTreeProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const [current, setCurrent] = useState(0)
  const [limit, setLimit] = useState(STEP)
  const tree = useRef<HTMLDivElement>(null)
  const all = useMemo(() => treeRows(files, closed), [files, closed])
  const rows = all.slice(0, limit)
  const stop = Math.min(current, rows.length - 1)
  const toggle = (path: string) =>
    setClosed((now) => new Set(now.has(path) ? [...now].filter((p) => p !== path) : [...now, path]))
  const choose = (at: number) => {
    const row = rows[at]
    setCurrent(at)
    if (row === undefined) return
    if (row.isOpen === undefined) onChoose(row.path)
    else toggle(row.path)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const isChosen = event.key === "Enter" || event.key === " "
    const step = treeStep(rows, stop, event.key)
    if (!isChosen && step === undefined) return
    event.preventDefault()
    // A screen's own keys, such as End, are the tree's here.
    event.stopPropagation()
    if (isChosen) choose(stop)
    else if (step !== undefined && "toggle" in step) toggle(step.toggle)
    else if (step !== undefined) {
      setCurrent(step.go)
      tree.current?.querySelectorAll<HTMLElement>('[role="treeitem"]')[step.go]?.focus()
    }
  }
  return (
    <div>
      <div
        ref={tree}
        role="tree"
        aria-label="Changed files"
        onKeyDown={onKeyDown}
        className="max-h-60 overflow-y-auto rounded-control border border-line py-1"
      >
        {rows.map(({ path, name, level, isOpen, added, removed }, at) => (
          <div
            key={path}
            role="treeitem"
            aria-level={level}
            aria-expanded={isOpen}
            aria-selected={at === stop}
            tabIndex={at === stop ? 0 : -1}
            onClick={() => choose(at)}
            title={oneLine(path, 1000)}
            style={{ paddingInlineStart: `${Math.min(level, 12) * 0.75}rem` }}
            className="flex min-h-7 cursor-pointer items-center gap-1.5 pe-2 text-dense hover:bg-sunken focus-visible:outline-offset-[-2px] coarse:min-h-11"
          >
            <NextIcon
              size={12}
              className={classes(
                "shrink-0 text-text-3",
                isOpen === true && "rotate-90",
                isOpen === undefined && "invisible",
              )}
            />
            <bdi className={classes("min-w-0 flex-1 truncate font-mono", isOpen !== undefined && "text-text-2")}>
              {oneLine(name, 200)}
            </bdi>
            <ChangeCounts added={added} removed={removed} />
          </div>
        ))}
      </div>
      {rows.length < all.length && (
        <Button look="quiet" onClick={() => setLimit(limit + STEP)} className="w-full">
          Show {plural(all.length - rows.length, "more file")}
        </Button>
      )}
    </div>
  )
}
