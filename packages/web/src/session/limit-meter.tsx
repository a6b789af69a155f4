import { useMemo, useRef } from "react"
import { useNow } from "../app/clock.ts"
import { useValue } from "../app/value-store.ts"
import { moment } from "../design/moment.ts"
import { type LimitUse, limitUseOf } from "../fleet/limit-use.ts"
import { useTranscript } from "../transcript/rows/transcript-context.tsx"
import type { SessionFeed } from "../transcript/window/session-feed.ts"
import { ShareMeter } from "./share-meter.tsx"

/** As the end of the log tells it, also while the reader is elsewhere in it. */
export function useLimitUse(): LimitUse | undefined {
  const { feed } = useTranscript()
  const { isAtTail, lastSeq, load } = useValue(feed.view)
  const now = useNow()
  const kept = useRef<ReturnType<SessionFeed["lastLimit"]>>(undefined)
  const told = useMemo(() => {
    if (load === "ready" && isAtTail) kept.current = feed.lastLimit() ?? kept.current
    return kept.current
    // What is held changes: `lastSeq` tells that there is more of it.
  }, [feed, load, isAtTail, lastSeq])
  return limitUseOf(told, now)
}

interface LimitMeterProps {
  readonly use: LimitUse | undefined
  readonly className?: string
}

export function LimitMeter({ use, className }: LimitMeterProps) {
  const now = useNow()
  if (use === undefined) return null
  const resets = use.resetsAtMs === undefined ? "" : `, resets at ${moment(use.resetsAtMs, now)}`
  return (
    <ShareMeter
      label={use.name}
      short={use.short}
      share={use.share}
      words={`as of ${moment(Date.parse(use.toldAt), now)}${resets}`}
      {...(className === undefined ? {} : { className })}
    />
  )
}
