import type { Row, ToolRow } from "@signalbox/transcript"

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
