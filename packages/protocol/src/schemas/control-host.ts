import { z } from "zod"
import {
  AccountInfo,
  AgentDefinition,
  AgentInfo,
  McpResourceContents,
  McpServerConfig,
  McpServerStatus,
  ModelInfo,
  SlashCommand,
} from "./catalog.ts"
import { ThinkingDisplay } from "./content.ts"
import { HookRegistration } from "./hooks.ts"
import { controlRequest } from "./parts.ts"
import { PermissionMode } from "./permission.ts"
import { Capability, SessionActivity } from "./system.ts"

export const InitializeRequest = controlRequest("initialize", {
  /** Keyed by event name; an event unknown to the CLI is ignored. */
  hooks: z.record(z.string(), z.array(HookRegistration)).nullish(),
  sdkMcpServers: z.array(z.string()).optional(),
  jsonSchema: z.record(z.string(), z.unknown()).optional(),
  /** A string up to 2.1.37, an array of strings in 2.1.325. */
  systemPrompt: z.union([z.string(), z.array(z.string())]).optional(),
  appendSystemPrompt: z.string().optional(),
  agents: z.record(z.string(), AgentDefinition).optional(),
  sdkMcpServerConfigs: z.unknown().optional(),
  sdkMcpServerManifests: z.unknown().optional(),
  sdkMcpServerManifestsOrigin: z.unknown().optional(),
  systemPromptSnapshot: z.unknown().optional(),
  planModeInstructions: z.string().optional(),
  toolAliases: z.record(z.string(), z.unknown()).optional(),
  excludeDynamicSections: z.unknown().optional(),
  title: z.string().optional(),
  skills: z.union([z.array(z.string()), z.literal("all")]).optional(),
  promptSuggestions: z.boolean().optional(),
  agentProgressSummaries: z.boolean().optional(),
  forwardSubagentText: z.boolean().optional(),
  supportedDialogKinds: z.array(z.string()).optional(),
  perTaskStopAffordance: z.unknown().optional(),
  plugins: z.array(z.unknown()).optional(),
})
export type InitializeRequest = z.infer<typeof InitializeRequest>

export const InitializeReply = z.looseObject({
  commands: z.array(SlashCommand),
  output_style: z.string(),
  available_output_styles: z.array(z.string()),
  models: z.array(ModelInfo),
  account: AccountInfo,
  fast_mode: z.boolean().optional(),
  agents: z.array(AgentInfo).optional(),
  hooks_applied: z.unknown().optional(),
  hook_on_failure_supported: z.unknown().optional(),
  plugins_applied: z.unknown().optional(),
  sdk_mcp_manifests_parked: z.unknown().optional(),
  claude_code_version: z.string().optional(),
  fast_mode_state: z.string().nullish(),
  fast_mode_disabled_reason: z.string().nullish(),
  pid: z.number().optional(),
  current_permission_mode: PermissionMode.optional(),
  // The rest is seen on 2.1.325, not published.
  /** Fewer than in `system/init`. */
  capabilities: z.array(Capability).nullish(),
  session_state: SessionActivity.nullish(),
  user_output_styles_dir: z.string().nullish(),
  other_hook_ask_outranks_host: z.boolean().nullish(),
  analytics_disabled: z.unknown().optional(),
  feedback_mode: z.unknown().optional(),
  ide_rc_auto_enable_gate: z.unknown().optional(),
  remote_control_available: z.unknown().optional(),
  remote_control_auto_enable: z.unknown().optional(),
  remote_control_auto_on_by_default: z.unknown().optional(),
  remote_control_auto_connect_default: z.unknown().optional(),
})
export type InitializeReply = z.infer<typeof InitializeReply>

/** What a host asks of its agent while it works; `initialize` and the requests about settings have their own files. */

export const InterruptRequest = controlRequest("interrupt", { cancel_queued: z.boolean().optional() })
export type InterruptRequest = z.infer<typeof InterruptRequest>

/** 2.1.37 answers with nothing. */
export const InterruptReply = z
  .looseObject({ still_queued: z.array(z.string()).optional(), cancelled: z.array(z.string()).optional() })
  .nullish()
export type InterruptReply = z.infer<typeof InterruptReply>

export const SetPermissionModeRequest = controlRequest("set_permission_mode", { mode: PermissionMode })
export type SetPermissionModeRequest = z.infer<typeof SetPermissionModeRequest>

/** 2.1.37 answers twice with the same id, the second time with nothing. */
export const SetPermissionModeReply = z.looseObject({ mode: PermissionMode }).nullish()
export type SetPermissionModeReply = z.infer<typeof SetPermissionModeReply>

/** Omitted or `"default"` resets; `null` does so only in 2.1.325. */
export const SetModelRequest = controlRequest("set_model", { model: z.string().nullish() })
export type SetModelRequest = z.infer<typeof SetModelRequest>

export const SetModelReply = z.looseObject({ model: z.string().nullish() }).nullish()
export type SetModelReply = z.infer<typeof SetModelReply>

export const SetMaxThinkingTokensRequest = controlRequest("set_max_thinking_tokens", {
  max_thinking_tokens: z.number().nullish(),
  thinking_display: ThinkingDisplay.nullish(),
})
export type SetMaxThinkingTokensRequest = z.infer<typeof SetMaxThinkingTokensRequest>

export const McpStatusRequest = controlRequest("mcp_status", { liveReply: z.boolean().optional() })
export type McpStatusRequest = z.infer<typeof McpStatusRequest>

export const McpStatusReply = z.looseObject({ mcpServers: z.array(McpServerStatus) })
export type McpStatusReply = z.infer<typeof McpStatusReply>

export const McpSetServersRequest = controlRequest("mcp_set_servers", {
  servers: z.record(z.string(), McpServerConfig),
})
export type McpSetServersRequest = z.infer<typeof McpSetServersRequest>

export const McpSetServersReply = z.looseObject({
  added: z.array(z.string()),
  removed: z.array(z.string()),
  errors: z.record(z.string(), z.unknown()),
})
export type McpSetServersReply = z.infer<typeof McpSetServersReply>

export const McpReconnectRequest = controlRequest("mcp_reconnect", { serverName: z.string() })
export type McpReconnectRequest = z.infer<typeof McpReconnectRequest>

export const McpToggleRequest = controlRequest("mcp_toggle", { serverName: z.string(), enabled: z.boolean() })
export type McpToggleRequest = z.infer<typeof McpToggleRequest>

export const McpCallRequest = controlRequest("mcp_call", {
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()).optional(),
  expires_at: z.unknown().optional(),
  timeout_ms: z.number().optional(),
  result_not_for_model: z.boolean().optional(),
  check_permissions: z.boolean().optional(),
  input_files: z.unknown().optional(),
  output_files: z.unknown().optional(),
})
export type McpCallRequest = z.infer<typeof McpCallRequest>

export const McpReadResourceRequest = controlRequest("mcp_read_resource", { serverName: z.string(), uri: z.string() })
export type McpReadResourceRequest = z.infer<typeof McpReadResourceRequest>

export const McpReadResourceReply = z.looseObject({ contents: z.array(McpResourceContents) })
export type McpReadResourceReply = z.infer<typeof McpReadResourceReply>

export const RewindFilesRequest = controlRequest("rewind_files", {
  user_message_id: z.string(),
  dry_run: z.boolean().optional(),
})
export type RewindFilesRequest = z.infer<typeof RewindFilesRequest>

/** A dry run that cannot rewind is a success with `canRewind: false`; a real one is an error. */
export const RewindFilesReply = z.looseObject({
  canRewind: z.boolean(),
  error: z.string().nullish(),
  filesChanged: z.array(z.string()).nullish(),
  insertions: z.number().nullish(),
  deletions: z.number().nullish(),
  skippedLinks: z.number().nullish(),
})
export type RewindFilesReply = z.infer<typeof RewindFilesReply>

export const CancelAsyncMessageRequest = controlRequest("cancel_async_message", { message_uuid: z.string() })
export type CancelAsyncMessageRequest = z.infer<typeof CancelAsyncMessageRequest>

export const CancelAsyncMessageReply = z.looseObject({ cancelled: z.boolean() })
export type CancelAsyncMessageReply = z.infer<typeof CancelAsyncMessageReply>

export const StopTaskRequest = controlRequest("stop_task", { task_id: z.string() })
export type StopTaskRequest = z.infer<typeof StopTaskRequest>

export const BackgroundTasksRequest = controlRequest("background_tasks", { tool_use_id: z.string().optional() })
export type BackgroundTasksRequest = z.infer<typeof BackgroundTasksRequest>

/** Absent means true. */
export const BackgroundTasksReply = z.looseObject({ backgrounded: z.boolean().optional() }).nullish()
export type BackgroundTasksReply = z.infer<typeof BackgroundTasksReply>

export const GetTaskOutputRequest = controlRequest("get_task_output", { task_id: z.string() })
export type GetTaskOutputRequest = z.infer<typeof GetTaskOutputRequest>

export const GetTaskOutputReply = z.looseObject({
  output: z.string(),
  total_bytes: z.number(),
  truncated: z.boolean(),
})
export type GetTaskOutputReply = z.infer<typeof GetTaskOutputReply>

export const ReloadPluginsRequest = controlRequest("reload_plugins", {
  hold_on_cache_impact: z.boolean().optional(),
  add_plugins: z.array(z.unknown()).optional(),
  refuse_if_busy: z.boolean().optional(),
})
export type ReloadPluginsRequest = z.infer<typeof ReloadPluginsRequest>

export const ReloadPluginsReply = z.looseObject({
  commands: z.array(SlashCommand),
  agents: z.array(AgentInfo),
  plugins: z.array(z.unknown()),
  mcpServers: z.array(McpServerStatus),
  error_count: z.number(),
  held: z.unknown().optional(),
  cache_impact: z.unknown().optional(),
})
export type ReloadPluginsReply = z.infer<typeof ReloadPluginsReply>

export const ReloadSkillsRequest = controlRequest("reload_skills", {})
export type ReloadSkillsRequest = z.infer<typeof ReloadSkillsRequest>
export const ReloadSkillsReply = z.looseObject({ skills: z.array(SlashCommand) })
export type ReloadSkillsReply = z.infer<typeof ReloadSkillsReply>

export const ReloadOutputStylesRequest = controlRequest("reload_output_styles", {})
export type ReloadOutputStylesRequest = z.infer<typeof ReloadOutputStylesRequest>
export const ReloadOutputStylesReply = z.looseObject({ available_output_styles: z.array(z.string()) })
export type ReloadOutputStylesReply = z.infer<typeof ReloadOutputStylesReply>

export const ListModelsRequest = controlRequest("list_models", {})
export type ListModelsRequest = z.infer<typeof ListModelsRequest>
export const ListModelsReply = z.looseObject({ models: z.array(ModelInfo) })
export type ListModelsReply = z.infer<typeof ListModelsReply>
