import { z } from "zod"
import { StreamEventMessage } from "./content.ts"
import { ControlCancelRequest, ControlResponse, requestSchemas } from "./control.ts"
import { AssistantMessage, HostUserMessage, UpdateEnvironmentVariables, UserMessage } from "./conversation.ts"
import { HOOK_EVENTS_BY_GENERATION } from "./hooks.ts"
import { PERMISSION_MODES } from "./permission.ts"
import * as progress from "./progress.ts"
import * as task from "./progress.ts"
import { RESULT_SUBTYPES, results } from "./result.ts"
import * as session from "./system.ts"
import * as turn from "./system.ts"
import { CAPABILITIES } from "./system.ts"

/** Where a message of the type says which kind it is. */
export type SubtypePath = "subtype" | "request.subtype"
type RegistryEntry = z.ZodType | { by: SubtypePath; schemas: Readonly<Record<string, z.ZodType>> }

const systemSchemas = {
  init: session.SystemInit,
  status: session.SystemStatus,
  compact_boundary: session.CompactBoundary,
  hook_started: task.HookStarted,
  hook_progress: task.HookProgress,
  hook_response: task.HookResponse,
  task_notification: task.TaskNotification,
  files_persisted: session.FilesPersisted,
  api_retry: turn.ApiRetry,
  control_request_progress: turn.ControlRequestProgress,
  model_refusal_fallback: turn.ModelRefusalFallback,
  model_refusal_no_fallback: turn.ModelRefusalNoFallback,
  local_command_output: turn.LocalCommandOutput,
  plugin_install: session.PluginInstall,
  task_started: task.TaskStarted,
  task_updated: task.TaskUpdated,
  task_progress: task.TaskProgress,
  background_tasks_changed: task.BackgroundTasksChanged,
  thinking_tokens: turn.ThinkingTokens,
  session_state_changed: session.SessionStateChanged,
  worker_shutting_down: session.WorkerShuttingDown,
  commands_changed: session.CommandsChanged,
  notification: turn.Notification,
  memory_recall: session.MemoryRecall,
  elicitation_complete: turn.ElicitationComplete,
  permission_denied: turn.PermissionDenied,
  mirror_error: session.MirrorError,
  informational: turn.Informational,
  session_writes_lost: session.SessionWritesLost,
  session_title_changed: session.SessionTitleChanged,
} as const

/** Every message once, by who sends it. Known types, unions and lookups are derived from here. */
export const messages = {
  agent: {
    system: { by: "subtype", schemas: systemSchemas },
    assistant: AssistantMessage,
    user: UserMessage,
    stream_event: StreamEventMessage,
    result: { by: "subtype", schemas: results },
    tool_progress: progress.ToolProgress,
    tool_use_summary: progress.ToolUseSummary,
    auth_status: progress.AuthStatus,
    streamlined_text: progress.StreamlinedText,
    streamlined_tool_use_summary: progress.StreamlinedToolUseSummary,
    rate_limit_event: progress.RateLimitEvent,
    prompt_suggestion: progress.PromptSuggestion,
    conversation_reset: progress.ConversationReset,
    active_goal: progress.ActiveGoal,
    autocompact_state: progress.AutocompactState,
    command_lifecycle: progress.CommandLifecycle,
    transcript_mirror: progress.TranscriptMirror,
    control_request: { by: "request.subtype", schemas: requestSchemas("agent") },
    control_response: ControlResponse,
    control_cancel_request: ControlCancelRequest,
    keep_alive: progress.KeepAlive,
  },
  host: {
    user: HostUserMessage,
    control_request: { by: "request.subtype", schemas: requestSchemas("host") },
    control_response: ControlResponse,
    control_cancel_request: ControlCancelRequest,
    keep_alive: progress.KeepAlive,
    update_environment_variables: UpdateEnvironmentVariables,
  },
} as const satisfies Record<"agent" | "host", Record<string, RegistryEntry>>

type Registry = typeof messages
export type Side = keyof Registry

type SchemaOf<Entry> = Entry extends z.ZodType ? Entry : Entry extends { schemas: infer S } ? S[keyof S] : never
type MessageOf<Entry> = SchemaOf<Entry> extends infer S ? (S extends z.ZodType ? z.infer<S> : never) : never

/** What an agent says. */
export type AgentMessage = MessageOf<Registry["agent"][keyof Registry["agent"]]>
/** What a host says. */
export type HostMessage = MessageOf<Registry["host"][keyof Registry["host"]]>
export type WireMessage = AgentMessage | HostMessage

export type SystemMessage = MessageOf<Registry["agent"]["system"]>
export type AgentControlRequest = MessageOf<Registry["agent"]["control_request"]>
export type HostControlRequest = MessageOf<Registry["host"]["control_request"]>

function subtypeAt(path: SubtypePath, message: Readonly<Record<string, unknown>>): unknown {
  if (path === "subtype") return message["subtype"]
  const { request } = message
  return typeof request === "object" && request !== null && "subtype" in request ? request.subtype : undefined
}

function schemaIn(side: Side, message: Readonly<Record<string, unknown>> & { type: string }): z.ZodType | undefined {
  const entries: Readonly<Record<string, RegistryEntry>> = messages[side]
  // Types come off the wire: `constructor` must not find what every object inherits.
  const entry = Object.hasOwn(entries, message.type) ? entries[message.type] : undefined
  if (entry === undefined || entry instanceof z.ZodType) return entry
  const subtype = subtypeAt(entry.by, message)
  return typeof subtype === "string" && Object.hasOwn(entry.schemas, subtype) ? entry.schemas[subtype] : undefined
}

/**
 * The schema of a message by its type and subtype, or undefined if this version does not know them. Without a side, the
 * host's comes first: where both sides speak, the host's schema is the laxer one.
 * The overload holds because every schema of the registry yields one member of the union derived from it.
 */
export function schemaFor(
  message: Readonly<Record<string, unknown>> & { type: string },
  from?: Side,
): z.ZodType<WireMessage> | undefined
export function schemaFor(
  message: Readonly<Record<string, unknown>> & { type: string },
  from?: Side,
): z.ZodType | undefined {
  return from === undefined ? (schemaIn("host", message) ?? schemaIn("agent", message)) : schemaIn(from, message)
}

/** For each type its subtypes, or null where the type alone decides. */
type KnownTypes = Record<string, readonly string[] | null>

function knownTypes(side: Side): KnownTypes {
  return Object.fromEntries(
    Object.entries(messages[side]).map(([type, entry]) => [
      type,
      entry instanceof z.ZodType ? null : Object.keys(entry.schemas),
    ]),
  )
}

function subtypePaths(): Record<string, SubtypePath> {
  const paths: Record<string, SubtypePath> = {}
  for (const side of [messages.agent, messages.host]) {
    for (const [type, entry] of Object.entries(side)) if (!(entry instanceof z.ZodType)) paths[type] = entry.by
  }
  return paths
}

/** What `known.generated.ts` holds, so that the main entry knows the wire without loading zod. */
export function describeKnown() {
  return {
    known: { agent: knownTypes("agent"), host: knownTypes("host") },
    subtypePath: subtypePaths(),
    hookEvents: HOOK_EVENTS_BY_GENERATION,
    permissionModes: PERMISSION_MODES,
    resultSubtypes: RESULT_SUBTYPES,
    capabilities: CAPABILITIES,
  }
}
