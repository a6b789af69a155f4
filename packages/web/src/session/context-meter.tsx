import { useMemo, useRef } from "react"
import { useValue } from "../app/value-store.ts"
import { classes } from "../design/classes.ts"
import { tokens } from "../design/words.ts"
import { useTranscript } from "../transcript/transcript-context.ts"
import { type ContextFill, contextFillOf } from "./context-fill.ts"

/** From here on it is soon compacted. */
const NEARLY_FULL = 80

/** How full the context is. Of the log's end, also while the reader is elsewhere in it. */
export function useContextFill(): ContextFill | undefined {
  const { feed } = useTranscript()
  const { isAtTail, lastSeq, load } = useValue(feed.view)
  const kept = useRef<ContextFill | undefined>(undefined)
  return useMemo(() => {
    if (load === "ready" && isAtTail)
      kept.current = contextFillOf(feed.laneRows(null), (seq) => feed.eventAt(seq)?.message) ?? kept.current
    return kept.current
    // The rows are the fold's own: `lastSeq` tells that there are others.
  }, [feed, load, isAtTail, lastSeq])
}

export function ContextMeter({ fill }: { readonly fill: ContextFill | undefined }) {
  if (fill === undefined) return null
  const share = Math.min(100, Math.round((fill.used / fill.max) * 100))
  return (
    <span className="flex min-w-12 items-center gap-1.5 whitespace-nowrap tabular-nums" title={words(fill)}>
      <span aria-hidden="true">ctx {share} %</span>
      <span
        role="meter"
        aria-label="Context"
        aria-valuenow={share}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={`${share} %, ${words(fill)}`}
        className="block h-1.5 w-10 min-w-0 overflow-hidden rounded-[3px] bg-sunken outline outline-edge/60"
      >
        <span
          ref={(element) => element?.style.setProperty("width", `${share}%`)}
          className={classes("block h-full", share >= NEARLY_FULL ? "bg-caution" : "bg-accent")}
        />
      </span>
    </span>
  )
}

function words({ used, max }: ContextFill): string {
  return `${tokens(used)} of ${tokens(max)} tokens`
}
