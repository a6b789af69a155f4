import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { given, numberOf } from "./entry.ts"
import type { TaskFacts, TranscriptEvent } from "./row.ts"

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
