import type { HubEvent } from "@signalbox/client"
import { useEffect, useState } from "react"
import { useHub } from "../../app/hub-context.ts"
import { usePlace } from "../../app/router.tsx"
import { whileOpen } from "../../app/value-store.ts"
import { CopyButton } from "../../design/button.tsx"
import { Empty, Skeleton, Trouble } from "../../design/notice.tsx"
import { JsonView } from "../../transcript/content/output-text.tsx"
import type { PanelProps } from "./session-panels.tsx"

/** The event itself, as it came. */
export function RawPanel({ session, feed }: PanelProps) {
  const seq = Number(usePlace().query.get("event") ?? "0")
  const held = feed.eventAt(seq)
  const [read, retry] = useEvent(session.id, held === undefined ? seq : 0)
  const event = held ?? read
  if (!(seq > 0)) return <Empty>Select a row's time in the transcript to see its event.</Empty>
  if (event === undefined) return <Skeleton rows={3} />
  if (event === "missing") return <Empty>Event {seq} not found.</Empty>
  if (event === "failed") return <Trouble onRetry={retry}>Couldn't load event {seq}.</Trouble>
  return (
    <div className="flex flex-col gap-2">
      <p className="flex items-center justify-between gap-2 text-dense text-text-2">
        <span>
          Event {event.seq}, {new Date(event.at).toLocaleString()}, from {event.from}
          {event.by === undefined ? "" : ` (${event.by})`}
        </span>
        <CopyButton text={JSON.stringify(event.message, null, 2)} label="Copy JSON" />
      </p>
      <JsonView value={event.message} whole />
    </div>
  )
}

type ReadEvent = HubEvent | "missing" | "failed"

/** One that is not in the part of the log that is loaded. Not asked for with 0. */
function useEvent(session: string, seq: number): readonly [ReadEvent | undefined, retry: () => void] {
  const hub = useHub()
  const [read, setRead] = useState<{ readonly seq: number; readonly event: ReadEvent }>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (!(seq > 0)) return undefined
    return whileOpen(
      hub.session(session).events({ after: seq - 1, limit: 1 }),
      ({ events: [event] }) => setRead({ seq, event: event?.seq === seq ? event : "missing" }),
      () => setRead({ seq, event: "failed" }),
    )
  }, [hub, session, seq, tries])
  return [read?.seq === seq ? read.event : undefined, () => setTries(tries + 1)]
}
