import { useState } from "react"
import { setQuery } from "../../app/router.tsx"
import { Button } from "../../design/button.tsx"
import { Empty, Skeleton } from "../../design/notice.tsx"
import { plural } from "../../design/words.ts"
import type { FeedView, SessionFeed } from "../window/session-feed.ts"
import { laneAbsence } from "./lane-absence.ts"

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
  // What could not be loaded is told above, with a way to try again.
  if (view.trouble !== undefined) return null
  return (
    <div className="absolute inset-0 overflow-y-auto bg-canvas">
      {absence === "looking" ? (
        <Skeleton rows={8} />
      ) : (
        <Empty
          action={
            <div className="flex flex-wrap justify-center gap-2">
              {absence === "not-so-far" && <Button onClick={look}>Look further up</Button>}
              <Button onClick={() => setQuery({ lane: null, seq: null })}>To the whole session</Button>
            </div>
          }
        >
          {absence === "missing" && "There is no such sub-agent in this session."}
          {absence === "silent" &&
            (host?.result === undefined ? "This sub-agent has not said anything yet." : "This sub-agent said nothing.")}
          {absence === "not-so-far" &&
            `This sub-agent is not among the ${plural(view.toSeq - view.fromSeq + 1, "event")} looked through so far.`}
        </Empty>
      )}
    </div>
  )
}
