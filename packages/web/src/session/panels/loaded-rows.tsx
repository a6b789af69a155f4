import type { Row, ToolRow } from "@signalbox/transcript"
import { useValue } from "../../app/value-store.ts"
import { Button } from "../../design/button.tsx"
import type { SessionFeed } from "../../transcript/window/session-feed.ts"

/** Sub-agents of sub-agents: deeper than anybody starts them. */
const MAX_DEPTH = 5

/** Every tool call that is loaded, those of sub-agents too, in the order they were made. */
export function toolRowsOf(rowsOf: (lane: string | null) => readonly Row[]): readonly ToolRow[] {
  const found: ToolRow[] = []
  const collect = (lane: string | null, depth: number): void => {
    for (const row of rowsOf(lane).flatMap(toolsIn)) {
      found.push(row)
      if (row.hasLane && depth < MAX_DEPTH) collect(row.toolUseId, depth + 1)
    }
  }
  collect(null, 0)
  return found.sort((a, b) => a.headSeq - b.headSeq)
}

function toolsIn(row: Row): readonly ToolRow[] {
  if (row.kind === "tool") return [row]
  return row.kind === "activity" ? row.members.filter((member) => member.kind === "tool") : []
}

/** A panel tells of what is loaded; where that is not all, it says so. */
export function LoadedNote({ feed }: { readonly feed: SessionFeed }) {
  const { isAtHead, load } = useValue(feed.view)
  if (isAtHead || load !== "ready") return null
  return (
    <p className="flex flex-wrap items-center gap-2 text-meta text-text-3">
      Partial: the start of this session isn't loaded.
      <Button look="quiet" onClick={() => void feed.loadBefore()}>
        Load earlier
      </Button>
    </p>
  )
}
