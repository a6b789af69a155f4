import { isQuestion } from "@signalbox/protocol/agent-state"
import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import type { AskState } from "@signalbox/protocol/hub-api"
import { type Entry, given, numberOf } from "./entry.ts"
import type {
  AskFacts,
  AskOutcome,
  JsonObject,
  PictureSource,
  TaskFacts,
  ToolResult,
  ToolRow,
  ToolState,
  TranscriptEvent,
} from "./row.ts"

/** The hub's word on an ask beside the log: some endings have no event of their own. */
export interface AskRecord {
  readonly requestId: string
  readonly state: AskState
  readonly settledAt?: string
  readonly settledBy?: string
  readonly rule?: string
  readonly answer?: JsonObject
}

/** All that is known of one question, whichever part came first. */
export interface Question {
  readonly requestId: string
  asked?: TranscriptEvent
  answered?: TranscriptEvent
  record?: AskRecord
}

const OUTCOMES: ReadonlySet<string> = new Set<AskOutcome>([
  "pending",
  "allowed",
  "denied",
  "expired",
  "cancelled",
  "superseded",
  "orphaned",
])

/** `isOver`: what was asked for has happened or not, so somebody must have decided. */
export function askFacts(question: Question, isOver: boolean): AskFacts {
  const { asked, answered, record } = question
  const request = fieldOf(asked?.message, "request") ?? {}
  const answer = record?.answer ?? answerIn(answered)
  const settledAt = record?.settledAt ?? answered?.at
  return {
    requestId: question.requestId,
    outcome: outcomeOf(question, answer, isOver),
    request,
    askedAt: asked?.at ?? "",
    isEdited: isEdited(request, answer),
    ...given({ seq: asked?.seq, settledAt, by: record?.settledBy ?? answered?.by, rule: record?.rule, answer }),
  }
}

function outcomeOf({ record }: Question, answer: JsonObject | undefined, isOver: boolean): AskOutcome {
  if (record !== undefined && record.state !== "pending" && isOutcome(record.state)) return record.state
  const told = answer === undefined ? undefined : verdictOf(answer)
  return told ?? (isOver ? "settled" : "pending")
}

/** A newer hub may know states that have no words here. */
function isOutcome(state: string): state is AskOutcome {
  return OUTCOMES.has(state)
}

function verdictOf(answer: JsonObject): AskOutcome {
  const verdict = answer["behavior"] ?? answer["action"]
  if (verdict === "allow" || verdict === "accept" || verdict === "completed" || "result" in answer) return "allowed"
  return verdict === "deny" || verdict === "decline" ? "denied" : "cancelled"
}

function answerIn(event: TranscriptEvent | undefined): JsonObject | undefined {
  return fieldOf(fieldOf(event?.message, "response"), "response")
}

function isEdited(request: JsonObject, answer: JsonObject | undefined): boolean {
  const updated = answer?.["updatedInput"]
  const input = request["input"]
  if (!isObject(updated) || !isObject(input) || request["tool_name"] === "AskUserQuestion") return false
  return JSON.stringify(updated) !== JSON.stringify(input)
}

/** The id of the question that an event asks. */
export function questionId(event: TranscriptEvent): string | undefined {
  const { message } = event
  if (event.from !== "agent" || message.type !== "control_request") return undefined
  return isQuestion(fieldOf(message, "request")?.["subtype"]) ? textOf(message, "request_id") : undefined
}

/** The newest report of each kind: reports may come in any order. */
export interface Task {
  readonly id: string
  /** Almost always one: the call that started it. */
  readonly toolUseIds: Set<string>
  started?: TranscriptEvent
  updated?: TranscriptEvent
  progress?: TranscriptEvent
  ended?: TranscriptEvent
}

const PARTS: Readonly<Record<string, "started" | "updated" | "progress" | "ended">> = {
  task_started: "started",
  task_updated: "updated",
  task_progress: "progress",
  task_notification: "ended",
}

/** Notes what a `task_*` message tells. Undefined: it is none. */
export function noteTask(tasks: Map<string, Task>, event: TranscriptEvent): Task | undefined {
  const part = PARTS[textOf(event.message, "subtype") ?? ""]
  const id = textOf(event.message, "task_id")
  if (part === undefined || id === undefined) return undefined
  const task = tasks.get(id) ?? { id, toolUseIds: new Set() }
  tasks.set(id, task)
  const toolUseId = textOf(event.message, "tool_use_id")
  if (toolUseId !== undefined) task.toolUseIds.add(toolUseId)
  if ((task[part]?.seq ?? 0) < event.seq) task[part] = event
  return task
}

export function taskFacts(task: Task): TaskFacts {
  const started = task.started?.message
  const told = task.ended?.message ?? task.progress?.message
  const usage = fieldOf(task.ended?.message, "usage") ?? fieldOf(task.progress?.message, "usage")
  const patch = fieldOf(task.updated?.message, "patch")
  return {
    taskId: task.id,
    status: statusOf(task),
    isBackground: (patch?.["is_backgrounded"] ?? started?.["is_backgrounded"]) === true,
    ...given({
      description: textOf(started, "description") ?? textOf(task.progress?.message, "description"),
      subagentType: textOf(started, "subagent_type") ?? textOf(task.progress?.message, "subagent_type"),
      tokens: numberOf(usage, "total_tokens"),
      toolUses: numberOf(usage, "tool_uses"),
      durationMs: numberOf(usage, "duration_ms"),
      currentTool: task.ended === undefined ? textOf(task.progress?.message, "last_tool_name") : undefined,
      summary: textOf(told, "summary"),
    }),
  }
}

function statusOf(task: Task): TaskFacts["status"] {
  const status = task.ended?.message["status"] ?? fieldOf(task.updated?.message, "patch")?.["status"]
  if (status === "completed" || status === "failed") return status
  return status === "stopped" || status === "killed" ? "stopped" : "running"
}

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
  if (result.isError)
    return outcome === "denied" || use.nonExecution?.startsWith("permission") === true ? "denied" : "failed"
  if (task?.isBackground === true && task.status === "running") return "running"
  return task?.status === "failed" ? "failed" : "done"
}

const INTERRUPTED = "[Request interrupted by user"

function isInterrupted({ structured, content, isError }: ToolResult): boolean {
  if (isObject(structured) && structured["interrupted"] === true) return true
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

/** Time it took, without the time in which somebody was asked. */
function elapsedOf({ call, result, progressMs }: ToolUse, settledAt: string | undefined): number | undefined {
  if (call === undefined || result === undefined) return progressMs
  const elapsed = Date.parse(result.at) - Date.parse(settledAt ?? call.at)
  return Number.isFinite(elapsed) ? Math.max(0, elapsed) : progressMs
}
