import type { Row, TaskFacts, ToolRow } from "@signalbox/transcript"
import { createContext, useContext } from "react"
import { useSelected } from "../../app/value-store.ts"
import { Button } from "../../design/button.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { duration, plural, SHORTEST_MS } from "../../design/words.ts"
import { Markdown } from "../content/markdown.tsx"
import { resultText, textIn, toolWords } from "../tools/tool-words.ts"
import { INLINE_ROWS, MAX_DEPTH } from "./row-place.ts"
import { useTranscript } from "./transcript-context.tsx"

/** How many lanes a row is in, one inside of the other. */
const Depth = createContext(0)

/** The rows of a sub-agent. No scroller in a scroller: the rest is one click away, and so are lanes deep inside of others. */
export function Lane({ row }: { readonly row: ToolRow }) {
  const { onLane, renderRow } = useTranscript()
  const depth = useContext(Depth) + 1
  const rows = useLaneRows(row.toolUseId)
  const shown = depth < MAX_DEPTH ? rows.slice(-INLINE_ROWS) : []
  const prompt = textIn(row.input, "prompt")
  // A background agent's result only says that it was started.
  const answer = row.task?.isBackground === true ? (row.task.summary ?? "") : resultText(row.result?.content)
  return (
    <div className="flex flex-col gap-2 border-s-2 border-line ps-3">
      {prompt !== undefined && <p className="line-clamp-3 text-dense whitespace-pre-wrap text-text-2">{prompt}</p>}
      {(row.hasLane || row.result === undefined) && (
        <Button look="quiet" className="-ms-3 self-start" onClick={() => onLane(row.toolUseId)}>
          {rows.length > shown.length ? `Open lane, ${plural(rows.length, "row")}` : "Open lane"}
        </Button>
      )}
      {shown.length > 0 && <Depth value={depth}>{shown.map(renderRow)}</Depth>}
      {answer !== "" && !isSaid(rows, answer) && (
        <div className="rounded-control bg-sunken px-3 py-2">
          <Markdown text={answer} live={false} />
        </div>
      )}
    </div>
  )
}

/** True if the answer repeats the last text, as it mostly does. */
function isSaid(rows: readonly Row[], answer: string): boolean {
  const last = rows.at(-1)
  return last?.kind === "text" && last.text.trim() === answer.trim()
}

/** A lane grows without its call's row being another one: it is watched by itself. */
function useLaneRows(lane: string): readonly Row[] {
  const { feed } = useTranscript()
  return useSelected(feed.view, () => feed.laneRows(lane))
}

/** How it goes with a sub-agent, open or not. Where the CLI does not tell, its lane does. */
export function LaneFacts({ row }: { readonly row: ToolRow }) {
  const rows = useLaneRows(row.toolUseId)
  const tools = rows.flatMap(toolsIn)
  const current = tools.findLast(({ state }) => state === "running" || state === "live")
  // Its call has a result once it is over, whether or not a CLI says more; in the background that is there at once.
  const hasEnded = row.result !== undefined && row.task?.isBackground !== true
  const isRunning = !hasEnded && (row.task === undefined || row.task.status === "running")
  const words = current === undefined ? undefined : toolWords(current)
  const ending = row.task === undefined || row.task.status === "running" ? "completed" : row.task.status
  const facts = taskWords({
    isBackground: false,
    toolUses: tools.length,
    ...row.task,
    status: isRunning ? "running" : ending,
    ...(words === undefined ? {} : { currentTool: `${words.name} ${words.subject}` }),
  })
  return <Facts facts={facts} />
}

function toolsIn(row: Row): readonly ToolRow[] {
  if (row.kind === "tool") return [row]
  return row.kind === "activity" ? row.members.filter((member) => member.kind === "tool") : []
}

const ENDINGS: Readonly<Record<TaskFacts["status"], string>> = {
  running: "",
  completed: "done",
  failed: "failed",
  stopped: "stopped",
}

export function taskWords(task: TaskFacts): readonly string[] {
  const isRunning = task.status === "running"
  return [
    task.toolUses !== undefined && plural(task.toolUses, "tool call"),
    task.tokens !== undefined && `${task.tokens.toLocaleString("en")} tokens`,
    task.durationMs !== undefined && task.durationMs >= SHORTEST_MS && duration(task.durationMs),
    isRunning && task.currentTool !== undefined && `now ${oneLine(task.currentTool, 80)}`,
    task.isBackground && "in the background",
    ENDINGS[task.status],
  ].filter((fact): fact is string => fact !== false && fact !== "")
}

export function Facts({ facts }: { readonly facts: readonly string[] }) {
  return facts.length === 0 ? null : <p className="text-meta text-text-3">{facts.join(" · ")}</p>
}

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

/** The name of a sub-agent: its kind, and what it was set to do. */
export function agentName(row: ToolRow): string {
  const { name, subject } = toolWords(row)
  if (!row.hasCall) return row.task?.description ?? row.task?.subagentType ?? "Sub-agent"
  return subject === "" ? name : `${name}: ${subject}`
}
