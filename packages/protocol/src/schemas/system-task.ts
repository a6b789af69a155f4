import { z } from "zod"
import { openEnum } from "./open-enum.ts"
import { systemMessage } from "./system-message.ts"

const hook = { hook_id: z.string(), hook_name: z.string(), hook_event: z.string() }
const hookStreams = { stdout: z.string(), stderr: z.string() }

export const HookStarted = systemMessage("hook_started", hook)
export type HookStarted = z.infer<typeof HookStarted>

export const HookProgress = systemMessage("hook_progress", { ...hook, ...hookStreams, output: z.string() })
export type HookProgress = z.infer<typeof HookProgress>

/** 2.0.77 leaves out `hook_id`, `output` and `outcome`. */
export const HookResponse = systemMessage("hook_response", {
  ...hook,
  ...hookStreams,
  hook_id: z.string().optional(),
  output: z.string().optional(),
  outcome: openEnum(["success", "error", "cancelled"]).optional(),
  exit_code: z.number().nullish(),
})
export type HookResponse = z.infer<typeof HookResponse>

export const TaskUsage = z.looseObject({
  total_tokens: z.number(),
  tool_uses: z.number(),
  duration_ms: z.number(),
})
export type TaskUsage = z.infer<typeof TaskUsage>

const task = { task_id: z.string(), run_id: z.string().nullish() }
const toolUse = { tool_use_id: z.string().nullish() }
const quiet = { skip_transcript: z.boolean().nullish(), ambient: z.boolean().nullish() }

export const TaskNotification = systemMessage("task_notification", {
  ...task,
  ...toolUse,
  ...quiet,
  status: openEnum(["completed", "failed", "stopped"]),
  output_file: z.string(),
  summary: z.string(),
  reason: z.string().nullish(),
  usage: TaskUsage.nullish(),
  resource_links: z.array(z.unknown()).nullish(),
})
export type TaskNotification = z.infer<typeof TaskNotification>

export const TaskStarted = systemMessage("task_started", {
  ...task,
  ...toolUse,
  ...quiet,
  description: z.string(),
  subagent_type: z.string().nullish(),
  is_backgrounded: z.boolean().nullish(),
  spawn_depth: z.number().nullish(),
  parent_task_id: z.string().nullish(),
  task_type: z.string().nullish(),
  workflow_name: z.string().nullish(),
  prompt: z.string().nullish(),
})
export type TaskStarted = z.infer<typeof TaskStarted>

export const TaskUpdated = systemMessage("task_updated", {
  ...task,
  patch: z.looseObject({
    status: openEnum(["pending", "running", "completed", "failed", "killed", "paused"]).nullish(),
    description: z.string().nullish(),
    end_time: z.number().nullish(),
    total_paused_ms: z.number().nullish(),
    error: z.string().nullish(),
    is_backgrounded: z.boolean().nullish(),
  }),
})
export type TaskUpdated = z.infer<typeof TaskUpdated>

export const TaskProgress = systemMessage("task_progress", {
  ...task,
  ...toolUse,
  description: z.string(),
  subagent_type: z.string().nullish(),
  usage: TaskUsage,
  last_tool_name: z.string().nullish(),
  summary: z.string().nullish(),
})
export type TaskProgress = z.infer<typeof TaskProgress>

/** The full set: replaces the one known so far. */
export const BackgroundTasksChanged = systemMessage("background_tasks_changed", {
  tasks: z.array(
    z.looseObject({
      ...task,
      task_type: z.string(),
      subagent_type: z.string().nullish(),
      description: z.string(),
      parent_task_id: z.string().nullish(),
      ambient: z.boolean().nullish(),
    }),
  ),
})
export type BackgroundTasksChanged = z.infer<typeof BackgroundTasksChanged>
