import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { askFacts, type Question } from "./asks.ts"
import { type Entry, given } from "./entry.ts"
import type { JsonObject, PictureSource, TaskFacts, ToolResult, ToolRow, ToolState } from "./row.ts"
import { type Task, taskFacts } from "./tasks.ts"

interface ToolCall {
  readonly seq: number
  readonly at: string
  readonly name: string
  readonly input: JsonObject
  readonly uuid?: string
  readonly displayName?: string
}

/** All that is known of one use of a tool, whichever part came first. */
export interface ToolUse {
  readonly id: string
  readonly entry: Entry
  firstAt: string
  call?: ToolCall
  result?: ToolResult
  nonExecution?: string
  question?: Question
  denial?: { readonly seq: number; readonly reason?: string; readonly reasonType?: string; readonly message: string }
  caption?: { readonly seq: number; readonly text: string }
  task?: Task
  /** The first event of its sub-agent. */
  laneSeq?: number
  /** Its turn, or the sub-agent it belongs to, is over. */
  isOver: boolean
  progressMs?: number
}

interface Around {
  readonly isRetracted: (uuid: string) => boolean
  /** Pages of the document that the tool read. */
  readonly pages: readonly { readonly seq: number; readonly pictures: readonly PictureSource[] }[]
}

export function drawTool(use: ToolUse, { isRetracted, pages }: Around): ToolRow | undefined {
  const { call, entry } = use
  const result = withPages(use.result, pages)
  const isHeardOf = call ?? result ?? use.question ?? use.denial ?? use.laneSeq
  if (isHeardOf === undefined) return undefined
  const request = use.question?.asked?.message["request"]
  const ask = use.question === undefined ? undefined : askFacts(use.question, result !== undefined || use.isOver)
  const task = use.task === undefined ? undefined : taskFacts(use.task)
  const asked = fieldOf(request, "input") ?? {}
  // The plan file is read when it is asked about: the call may have no word of it.
  const isPlan = call?.name === "ExitPlanMode" && textOf(call.input, "plan") === undefined
  const input = isPlan ? { ...call.input, ...asked } : (call?.input ?? asked)
  return {
    kind: "tool",
    key: `t:${use.id}`,
    headSeq: entry.seq,
    lastSeq: Math.max(lastSeqOf(use), pages.at(-1)?.seq ?? 0),
    lane: entry.lane,
    at: call?.at ?? use.firstAt,
    state: stateOf(use, ask?.outcome, task),
    toolUseId: use.id,
    name: call?.name ?? textOf(request, "tool_name") ?? "",
    input,
    hasCall: call !== undefined,
    hasLane: use.laneSeq !== undefined,
    isRetracted: call?.uuid !== undefined && isRetracted(call.uuid),
    ...given({
      result,
      ask,
      task,
      denial: use.denial,
      caption: use.caption?.text,
      elapsedMs: elapsedOf(use, ask?.settledAt),
      displayName: call?.displayName ?? textOf(request, "display_name"),
    }),
  }
}

function withPages(result: ToolResult | undefined, pages: Around["pages"]): ToolResult | undefined {
  if (result === undefined || pages.length === 0) return result
  return { ...result, pages: pages.flatMap(({ pictures }) => pictures) }
}

function stateOf(use: ToolUse, outcome: string | undefined, task: TaskFacts | undefined): ToolState {
  const { result } = use
  if (use.denial !== undefined) return "denied"
  if (result === undefined) {
    if (outcome === "pending") return "waiting"
    return use.isOver ? "missing" : "running"
  }
  if (isInterrupted(result) || (outcome !== "denied" && isAbandoned(result))) return "interrupted"
  if (result.isError) return outcome === "denied" || isRefused(use.nonExecution) ? "denied" : "failed"
  if (task?.isBackground === true && task.status === "running") return "running"
  return task?.status === "failed" ? "failed" : "done"
}

function isRefused(kind: string | undefined): boolean {
  return kind?.startsWith("permission") === true
}

const INTERRUPTED = "[Request interrupted by user"

function isInterrupted({ structured, content, isError }: ToolResult): boolean {
  if (typeof structured === "object" && structured !== null && Reflect.get(structured, "interrupted") === true)
    return true
  if (!isError || typeof content !== "string") return false
  // A command that was killed tells its code first.
  const last = content.trimEnd().split("\n").at(-1)
  return last?.startsWith(INTERRUPTED) === true || content.startsWith(INTERRUPTED)
}

const ABANDONED =
  /^The user doesn't want to proceed with this tool use\..*wait for the user to tell you how to proceed\.$/s

/** Newer CLIs say of what was interrupted what they say of what a person refused bare. One who refuses was asked. */
function isAbandoned({ content, isError }: ToolResult): boolean {
  return isError && typeof content === "string" && ABANDONED.test(content.trimEnd())
}

function lastSeqOf(use: ToolUse): number {
  const { task } = use
  const told = [task?.started, task?.updated, task?.progress, task?.ended, use.question?.asked, use.question?.answered]
  return Math.max(
    use.entry.seq,
    use.result?.seq ?? 0,
    use.denial?.seq ?? 0,
    use.caption?.seq ?? 0,
    ...told.map((event) => event?.seq ?? 0),
  )
}

/** What it took, without the time in which somebody was asked. */
function elapsedOf({ call, result, progressMs }: ToolUse, settledAt: string | undefined): number | undefined {
  if (call === undefined || result === undefined) return progressMs
  const elapsed = Date.parse(result.at) - Date.parse(settledAt ?? call.at)
  return Number.isFinite(elapsed) ? Math.max(0, elapsed) : progressMs
}
