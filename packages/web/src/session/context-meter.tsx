import { useMemo, useRef } from "react"
import { useValue } from "../app/value-store.ts"
import { tokens } from "../design/words.ts"
import { useTranscript } from "../transcript/rows/transcript-context.tsx"
import { type ContextFill, contextFillOf } from "./meters.tsx"
import { ShareMeter } from "./share-meter.tsx"

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
  return <ShareMeter label="Context" short="ctx" share={share} words={words(fill)} />
}

function words({ used, max }: ContextFill): string {
  return `${tokens(used)} of ${tokens(max)} tokens`
}
