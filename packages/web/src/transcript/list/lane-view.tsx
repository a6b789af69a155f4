import type { ToolRow } from "@signalbox/transcript"
import { useState } from "react"
import { setQuery, usePlace } from "../../app/router.tsx"
import { Button } from "../../design/button.tsx"
import { Empty, Skeleton } from "../../design/notice.tsx"
import { plural } from "../../design/words.ts"
import { agentName, lanePath } from "../rows/lane.tsx"
import { useTranscript } from "../rows/transcript-context.tsx"
import { AGENTS } from "../tools/tool-words.ts"
import { type FeedView, MAX_FILL, type SessionFeed } from "../window/session-feed.ts"
import { carryPlace } from "./reading-place.ts"

interface EmptyLaneProps {
  readonly feed: SessionFeed
  readonly view: FeedView
  readonly lane: string
}

/** In the place of a lane's rows when it has none: why, and the way back. */
export function EmptyLane({ feed, view, lane }: EmptyLaneProps) {
  const [isLooking, setLooking] = useState(false)
  const host = feed.tool(lane)
  const absence = isLooking ? "looking" : laneAbsence(view, host)
  const look = () => {
    setLooking(true)
    void feed.lookFurther().finally(() => setLooking(false))
  }
  // A failure to load is told above, with a way to try again.
  if (view.trouble !== undefined) return null
  return (
    <div className="absolute inset-0 overflow-y-auto bg-canvas">
      {absence === "looking" ? (
        <Skeleton rows={8} />
      ) : (
        <Empty
          action={
            <div className="flex flex-wrap justify-center gap-2">
              {absence === "not-so-far" && <Button onClick={look}>Search earlier events</Button>}
              <Button onClick={() => setQuery({ lane: null, seq: null })}>Show whole session</Button>
            </div>
          }
        >
          {absence === "missing" && "Sub-agent not found in this session."}
          {absence === "silent" &&
            (host?.result === undefined ? "No messages from this sub-agent yet." : "This sub-agent sent no messages.")}
          {absence === "not-so-far" &&
            `Not found in the ${plural(view.toSeq - view.fromSeq + 1, "event")} searched so far.`}
        </Empty>
      )}
    </div>
  )
}

/** Why a sub-agent's lane has no rows. */
type LaneAbsence =
  /** Its call may still be found. */
  | "looking"
  /** It is there, and has not said anything. */
  | "silent"
  /** So much was looked through; before it there is more. */
  | "not-so-far"
  | "missing"

/** Pure. `host`: the call that the lane is named after, as far as it is known. */
function laneAbsence(view: FeedView, host: ToolRow | undefined): LaneAbsence {
  if (host !== undefined && (host.hasLane || AGENTS.has(host.name))) return "silent"
  // A task that runs a command and no agent has no lane.
  if (host?.hasCall === true) return "missing"
  if (view.isAtHead && view.isAtTail) return "missing"
  if (view.toSeq - view.fromSeq + 1 <= MAX_FILL) return "looking"
  return view.isAtHead ? "missing" : "not-so-far"
}

/** Where a sub-agent's lane is: each step leads to the lane it names. */
export function LaneBreadcrumb({ lane }: { readonly lane: string }) {
  const { feed, sessionId: session } = useTranscript()
  const { entry } = usePlace()
  const path = lanePath(lane, (id) => feed.tool(id))
  /** Where the reader was there; somebody who was not is led to the call that started the next. */
  const leadTo = (outer: string | null, next: number) => {
    const seq = carryPlace({ entry, session, lane: outer }) ? null : String(path[next]?.headSeq ?? "")
    setQuery({ lane: outer, seq })
  }
  return (
    <nav aria-label="Lane" className="border-b border-line bg-sunken">
      <ol className="flex flex-wrap items-center gap-1 px-4 py-1 text-dense">
        <li>
          <Button look="quiet" className="-ms-3" onClick={() => leadTo(null, 0)}>
            ‹ Whole session
          </Button>
        </li>
        {path.slice(0, -1).map((row, index) => (
          <li key={row.toolUseId} className="flex items-center gap-1">
            <span aria-hidden="true">›</span>
            <Button look="quiet" onClick={() => leadTo(row.toolUseId, index + 1)}>
              <bdi>{agentName(row)}</bdi>
            </Button>
          </li>
        ))}
        <li className="flex min-w-0 items-center gap-2" aria-current="page">
          <span aria-hidden="true">›</span>
          <bdi className="truncate font-medium">{path.length === 0 ? "Sub-agent" : path.slice(-1).map(agentName)}</bdi>
        </li>
      </ol>
    </nav>
  )
}
