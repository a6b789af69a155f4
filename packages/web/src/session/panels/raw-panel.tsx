import { usePlace } from "../../app/router.ts"
import { CopyButton } from "../../design/copy-button.tsx"
import { Empty } from "../../design/notice.tsx"
import { JsonView } from "../../transcript/json-view.tsx"
import type { PanelProps } from "./session-panels.tsx"

/** The event itself, as it came. */
export function RawPanel({ feed }: PanelProps) {
  const seq = Number(usePlace().query.get("event") ?? "0")
  const event = feed.eventAt(seq)
  if (event === undefined) return <Empty>Choose a row's time in the transcript to see its event here.</Empty>
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
