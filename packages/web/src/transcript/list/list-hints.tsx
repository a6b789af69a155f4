import { useRef } from "react"
import { useSession } from "../../app/hub-context.ts"
import { setQuery } from "../../app/router.tsx"
import { Button } from "../../design/button.tsx"
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

/** How far the agent is with what it means to do, wherever one reads, as the hub counts it: its list may be older than what is loaded. */
export function TasksChip({ session }: { readonly session: string }) {
  const { done, total } = useSession(session)?.progress ?? { done: 0, total: 0 }
  // Once all is done there is nothing left to watch.
  if (done === total) return null
  return (
    <Button
      aria-label={`${done}/${total} tasks done`}
      onClick={() => setQuery({ panel: "tasks" }, { push: true })}
      className="pointer-events-auto min-h-6! min-w-6! rounded-full! coarse:min-w-11! px-2! py-0! text-meta! tabular-nums shadow-popover coarse:min-h-11!"
    >
      {done}/{total}
    </Button>
  )
}
