import type * as Wire from "@signalbox/protocol"
import type { McpServerProvenance } from "./control.ts"
import type { SDKAssistantMessageError } from "./messages.ts"
import type { PermissionUpdate } from "./permissions.ts"
import type { Published, With } from "./published.ts"

/** Why a session ended. */
export type ExitReason = "clear" | "resume" | "logout" | "prompt_input_exit" | "other"

export type HookEvent = Wire.HookEvent
export type BaseHookInput = With<Published<Wire.BaseHookInput>, OfEveryEvent>

interface OfEveryEvent {
  permission_mode?: string
  effort?: { level: string }
}

/** Fields that the wire's schema leaves open or optional for the sake of older CLIs. */
type InputOf<E extends HookEvent> = With<
  Published<Wire.HookInputOf<E>>,
  OfEveryEvent & (E extends keyof InputFields ? InputFields[E] : unknown)
>

/** A tool's input and output are open, so that a program may read them as what it knows they are. */
interface OfTool {
  tool_input: unknown
  mcp_server?: McpServerProvenance
}
interface OfStop {
  background_tasks?: BackgroundTaskSummary[]
  session_crons?: SessionCronSummary[]
}
interface OfModelSwitch {
  from_model: string
  to_model: string
  requested_model: string | null
  context_tokens: number
  prompt_cache_warm: boolean
  cache_ttl: "5m" | "1h"
  estimated_cache_write_usd: number
  pricing: "configured" | "catalog" | "default"
}
interface InputFields {
  PreToolUse: OfTool
  PostToolUse: OfTool & { tool_response: unknown }
  PostToolUseFailure: OfTool
  PostToolBatch: { tool_calls: PostToolBatchToolCall[] }
  PermissionRequest: OfTool & { permission_suggestions?: PermissionUpdate[] }
  PermissionDenied: OfTool & { reason: string }
  Notification: { notification_type: string }
  UserPromptSubmit: { source?: "user" | "sdk" | "system" | "loop_wakeup" | "schedule_wakeup" | "poll_event" }
  UserPromptExpansion: { expansion_type: "slash_command" | "mcp_prompt"; command_args: string }
  SessionEnd: { reason: ExitReason }
  Stop: OfStop
  StopFailure: { error: SDKAssistantMessageError; error_details?: string }
  SubagentStop: OfStop & { agent_id: string; agent_transcript_path: string; agent_type: string }
  PreCompact: { custom_instructions: string | null }
  PostCompact: { compact_summary: string }
  PreModelSwitch: OfModelSwitch & { source: "command" | "picker" | "sdk" }
  PostModelSwitch: OfModelSwitch & { source: "command" | "picker" | "sdk" | "auto" | "resume" }
  ConfigChange: { source: `${"user" | "project" | "local" | "policy"}_settings` | "skills" }
  InstructionsLoaded: { memory_type: "User" | "Project" | "Local" | "Managed"; load_reason: LoadReason }
  FileChanged: { event: "change" | "add" | "unlink" }
  DirectoryAdded: { source: "slash_command" | "register_repo_root" }
}
type LoadReason = "session_start" | "nested_traversal" | "path_glob_match" | "include" | "compact"

export interface PostToolBatchToolCall {
  tool_input: unknown
  tool_name: string
  tool_response?: unknown
  tool_use_id: string
}

/** A task that goes on though the agent stops. */
export interface BackgroundTaskSummary {
  type: string
  agent_type?: string
  command?: string
  description: string
  id: string
  name?: string
  server?: string
  status: string
  tool?: string
}

export interface SessionCronSummary {
  id: string
  prompt: string
  recurring: boolean
  schedule: string
}

export type PreToolUseHookInput = InputOf<"PreToolUse">
export type PostToolUseHookInput = InputOf<"PostToolUse">
export type PostToolUseFailureHookInput = InputOf<"PostToolUseFailure">
export type PostToolBatchHookInput = InputOf<"PostToolBatch">
export type NotificationHookInput = InputOf<"Notification">
export type UserPromptSubmitHookInput = InputOf<"UserPromptSubmit">
export type UserPromptExpansionHookInput = InputOf<"UserPromptExpansion">
export type SessionStartHookInput = InputOf<"SessionStart">
export type SessionEndHookInput = InputOf<"SessionEnd">
export type StopHookInput = InputOf<"Stop">
export type StopFailureHookInput = InputOf<"StopFailure">
export type SubagentStartHookInput = InputOf<"SubagentStart">
export type SubagentStopHookInput = InputOf<"SubagentStop">
export type PreCompactHookInput = InputOf<"PreCompact">
export type PostCompactHookInput = InputOf<"PostCompact">
export type PreModelSwitchHookInput = InputOf<"PreModelSwitch">
export type PostModelSwitchHookInput = InputOf<"PostModelSwitch">
export type PermissionRequestHookInput = InputOf<"PermissionRequest">
export type PermissionDeniedHookInput = InputOf<"PermissionDenied">
export type SetupHookInput = InputOf<"Setup">
export type TeammateIdleHookInput = InputOf<"TeammateIdle">
export type TaskCreatedHookInput = InputOf<"TaskCreated">
export type TaskCompletedHookInput = InputOf<"TaskCompleted">
export type ElicitationHookInput = InputOf<"Elicitation">
export type ElicitationResultHookInput = InputOf<"ElicitationResult">
export type ConfigChangeHookInput = InputOf<"ConfigChange">
export type WorktreeCreateHookInput = InputOf<"WorktreeCreate">
export type WorktreeRemoveHookInput = InputOf<"WorktreeRemove">
export type InstructionsLoadedHookInput = InputOf<"InstructionsLoaded">
export type CwdChangedHookInput = InputOf<"CwdChanged">
export type FileChangedHookInput = InputOf<"FileChanged">
export type DirectoryAddedHookInput = InputOf<"DirectoryAdded">
export type MessageDisplayHookInput = InputOf<"MessageDisplay">

export type HookInput = { [E in HookEvent]: InputOf<E> }[HookEvent]

type OutputOf<E extends WithOutput> = Published<Wire.HookSpecificOutputOf<E>>
type WithOutput = Extract<HookEvent, Wire.HookSpecificOutput["hookEventName"]>

export type HookSpecificOutput =
  | { [E in WithOutput]: OutputOf<E> }[Exclude<WithOutput, "PostToolUse" | "WorktreeCreate">]
  | PostToolUseHookSpecificOutput
  | WorktreeCreateHookSpecificOutput
export type PreToolUseHookSpecificOutput = OutputOf<"PreToolUse">
export type PostToolUseHookSpecificOutput = With<OutputOf<"PostToolUse">, { classifierContext?: string | undefined }>
export type PermissionRequestHookSpecificOutput = OutputOf<"PermissionRequest">
export type UserPromptSubmitHookSpecificOutput = OutputOf<"UserPromptSubmit">
export type SessionStartHookSpecificOutput = OutputOf<"SessionStart">
export type CwdChangedHookSpecificOutput = OutputOf<"CwdChanged">
export type ElicitationHookSpecificOutput = OutputOf<"Elicitation">
export type ElicitationResultHookSpecificOutput = OutputOf<"ElicitationResult">
export type FileChangedHookSpecificOutput = OutputOf<"FileChanged">
export type MessageDisplayHookSpecificOutput = OutputOf<"MessageDisplay">
export type NotificationHookSpecificOutput = OutputOf<"Notification">
export type PermissionDeniedHookSpecificOutput = OutputOf<"PermissionDenied">
export type PostModelSwitchHookSpecificOutput = OutputOf<"PostModelSwitch">
export type PostToolBatchHookSpecificOutput = OutputOf<"PostToolBatch">
export type PostToolUseFailureHookSpecificOutput = OutputOf<"PostToolUseFailure">
export type PreModelSwitchHookSpecificOutput = OutputOf<"PreModelSwitch">
export type SetupHookSpecificOutput = OutputOf<"Setup">
export type StopHookSpecificOutput = OutputOf<"Stop">
export type SubagentStartHookSpecificOutput = OutputOf<"SubagentStart">
export type SubagentStopHookSpecificOutput = OutputOf<"SubagentStop">
export type UserPromptExpansionHookSpecificOutput = OutputOf<"UserPromptExpansion">
export type WorktreeCreateHookSpecificOutput = With<OutputOf<"WorktreeCreate">, { worktreePath: string }>

/** "Do not wait for me": what the hook finds later cannot be delivered. */
export type AsyncHookJSONOutput = Published<Wire.AsyncHookOutput>
export type SyncHookJSONOutput = With<
  Omit<Published<Wire.SyncHookOutput>, "async">,
  { hookSpecificOutput?: HookSpecificOutput | undefined }
>

export type HookJSONOutput = AsyncHookJSONOutput | SyncHookJSONOutput

export type HookCallback = (
  input: HookInput,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<HookJSONOutput>

export interface HookCallbackMatcher {
  matcher?: string | undefined
  hooks: HookCallback[]
  /** In seconds. */
  timeout?: number | undefined
  /** `block` makes a hook that fails stop what it watches; the agent has to support it. */
  onFailure?: "continue" | "block" | undefined
}
