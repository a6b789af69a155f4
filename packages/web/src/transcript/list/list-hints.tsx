import type { Row } from "@signalbox/transcript"
import { useEffect, useMemo, useRef, useState } from "react"
import { setQuery } from "../../app/router.tsx"
import { Button } from "../../design/button.tsx"
import { checklistOf } from "../tools/checklist.ts"
import type { FeedView } from "../window/session-feed.ts"
import { rowsSince } from "./follow.ts"

interface JumpPillProps {
  readonly view: FeedView
  readonly isFollowing: boolean
  /** How often the reader has sent something. */
  readonly sent: number
  readonly onJump: () => void
}

/** The way back to the end, and what came there meanwhile. */
export function JumpPill({ view, isFollowing, sent, onJump }: JumpPillProps) {
  const held = useRef({ seq: view.lastSeq, arrived: view.arrived, sent })
  if (isFollowing) held.current = { seq: view.lastSeq, arrived: view.arrived, sent }
  if (isFollowing) return null
  // Where the end is not loaded its events are all that can be counted.
  const fresh = view.isAtTail ? rowsSince(view.rows, held.current.seq) : view.arrived - held.current.arrived
  const text = fresh > 0 ? `Jump to latest, ${fresh.toLocaleString("en")} new` : "Jump to latest"
  return (
    <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
      <Button onClick={onJump} className="pointer-events-auto rounded-full! shadow-popover">
        {sent > held.current.sent ? "Sent. Jump to latest" : text}
      </Button>
    </div>
  )
}

const KEY = "signalbox:find-hint-seen"

function wasSeen(): boolean {
  try {
    return localStorage.getItem(KEY) !== null
  } catch {
    return true
  }
}

function markSeen(): void {
  try {
    localStorage.setItem(KEY, "yes")
  } catch {
    // A browser that keeps nothing is told again.
  }
}

/** The browser's own search sees only what is loaded. Said once, to somebody who uses it on a long session. */
export function FindHint({ isWhole }: { readonly isWhole: boolean }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    if (isWhole || wasSeen()) return undefined
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || event.altKey || wasSeen()) return
      setShown(true)
      markSeen()
    }
    addEventListener("keydown", onKey)
    return () => removeEventListener("keydown", onKey)
  }, [isWhole])
  if (!isShown) return null
  return (
    <p
      role="status"
      className="pointer-events-auto flex items-center gap-2 rounded-control border border-line bg-raised px-3 py-1 text-dense shadow-popover"
    >
      Browser search covers loaded events only. Press / to search the whole session.
      <Button look="quiet" onClick={() => setShown(false)}>
        Got it
      </Button>
    </p>
  )
}

/** How far the agent is with what it means to do, wherever one reads. */
export function TasksChip({ rows }: { readonly rows: readonly Row[] }) {
  const todos = useMemo(() => checklistOf(rows), [rows])
  const done = todos.filter(({ status }) => status === "completed").length
  // Once all is done there is nothing left to watch.
  if (todos.length === 0 || done === todos.length) return null
  return (
    <Button
      aria-label={`${done}/${todos.length} tasks done`}
      onClick={() => setQuery({ panel: "tasks" }, { push: true })}
      className="pointer-events-auto min-h-6! min-w-6! rounded-full! coarse:min-w-11! px-2! py-0! text-meta! tabular-nums shadow-popover coarse:min-h-11!"
    >
      {done}/{todos.length}
    </Button>
  )
}
