import type { Row } from "@signalbox/transcript"
import { useRef } from "react"
import { Button } from "../../design/button.tsx"
import type { FeedView } from "../window/session-feed.ts"

/** Rows that are said and stand behind that event. What is still being said is none yet. */
export function rowsSince(rows: readonly Row[], seq: number): number {
  let count = 0
  for (let index = rows.length - 1; index >= 0; index--) {
    const row = rows[index]
    if (row === undefined || row.headSeq <= seq) break
    if (row.at !== "") count++
  }
  return count
}

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
