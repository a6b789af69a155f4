import type { ToolRow } from "@signalbox/transcript"
import { toolWords } from "../tools/tool-words.ts"

/** Deeper than any agent starts agents; a log that says so is not followed around in circles. */
const MAX_STEPS = 10

/** The calls that lead to a sub-agent, outermost first: as far as they are loaded. */
export function lanePath(lane: string, tool: (id: string) => ToolRow | undefined): readonly ToolRow[] {
  const path: ToolRow[] = []
  let next: string | null = lane
  while (next !== null && path.length < MAX_STEPS) {
    const row: ToolRow | undefined = tool(next)
    if (row === undefined) break
    path.unshift(row)
    next = row.lane
  }
  return path
}

/** What a sub-agent is called: its kind, and what it was set to do. */
export function agentName(row: ToolRow): string {
  const { name, subject } = toolWords(row)
  if (!row.hasCall) return row.task?.description ?? row.task?.subagentType ?? "Sub-agent"
  return subject === "" ? name : `${name}: ${subject}`
}
