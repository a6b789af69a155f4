import { z } from "zod"
import { EFFORT_LEVELS, McpServerState, SlashCommand } from "./catalog.ts"
import { AssistantError } from "./conversation.ts"
import { maybeIdentity, openEnum, systemMessage } from "./parts.ts"
import { PermissionMode } from "./permission.ts"

/** Seen in 2.1.325; features are detected by these, not by version numbers. */
export const CAPABILITIES = [
  "interrupt_receipt_v1",
  "interrupt_cancel_queued_v1",
  "interrupt_send_now_v1",
  "interrupt_requeue_taken_v1",
  "msg_lifecycle_v1",
  "request_marker_lists_v1",
  "ask_user_question_unanswered_v1",
  "lifecycle_wakeup_source_v1",
  "sdk_mcp_tools_list_changed",
  "sdk_mcp_manifests",
  "mcp_read_resource_v1",
  "mcp_tool_ui_meta_v1",
  "ui_surface_v1",
  "mcp_call_result_not_for_model_v1",
  "mcp_call_check_permissions_v1",
  "voice_call_talk_line_v1",
  "withdrawn_files_note_v2",
  "ui_pane_widget_v1",
  "reload_plugins_refuse_if_busy_v1",
] as const
export const Capability = openEnum(CAPABILITIES)
export type Capability = z.infer<typeof Capability>

export const ApiKeySource = openEnum([
  "user",
  "project",
  "org",
  "temporary",
  "oauth",
  "ANTHROPIC_API_KEY",
  "apiKeyHelper",
  "/login managed key",
  "none",
])
export type ApiKeySource = z.infer<typeof ApiKeySource>

export const PluginInfo = z.looseObject({
  name: z.string(),
  path: z.string().nullish(),
  version: z.string().nullish(),
  source: z.string().nullish(),
})
export type PluginInfo = z.infer<typeof PluginInfo>

/** Comes at the start of every turn, never on connect, and not always as the first line of a turn. */
export const SystemInit = systemMessage("init", {
  cwd: z.string(),
  tools: z.array(z.string()),
  mcp_servers: z.array(z.looseObject({ name: z.string(), status: McpServerState, source: z.string().nullish() })),
  model: z.string(),
  permissionMode: PermissionMode,
  slash_commands: z.array(z.string()),
  apiKeySource: ApiKeySource,
  claude_code_version: z.string(),
  output_style: z.string(),
  agents: z.array(z.string()).optional(),
  skills: z.array(z.string()).optional(),
  plugins: z.array(PluginInfo).optional(),
  betas: z.array(z.string()).optional(),
  fast_mode: z.boolean().optional(),
  fast_mode_state: z.string().nullish(),
  fast_mode_disabled_reason: z.string().nullish(),
  terminal_slash_commands: z.array(z.unknown()).nullish(),
  plugin_errors: z.array(z.unknown()).nullish(),
  effort: openEnum(EFFORT_LEVELS).nullish(),
  view_mode: z.string().nullish(),
  capabilities: z.array(Capability).optional(),
  user_message_uuids: z.array(z.string()).nullish(),
  // The rest is seen on 2.1.325 and in part on 2.1.120, not published.
  original_cwd: z.string().nullish(),
  additional_directories: z.array(z.string()).nullish(),
  memory_paths: z.looseObject({ auto: z.string().nullish() }).nullish(),
  messaging_socket_path: z.string().nullish(),
  per_turn_effort_active: z.boolean().nullish(),
  ultrathink_available: z.boolean().nullish(),
  ultrathink_typed_raises: z.boolean().nullish(),
  startup_timing: z.unknown().optional(),
  analytics_disabled: z.unknown().optional(),
  product_feedback_disabled: z.unknown().optional(),
})
export type SystemInit = z.infer<typeof SystemInit>

export const SystemStatus = systemMessage("status", {
  status: openEnum(["compacting", "requesting"]).nullable(),
  permissionMode: PermissionMode.nullish(),
  compact_result: z.string().nullish(),
  compact_error: z.string().nullish(),
})
export type SystemStatus = z.infer<typeof SystemStatus>

export const CompactBoundary = systemMessage("compact_boundary", {
  compact_metadata: z.looseObject({
    trigger: openEnum(["manual", "auto"]),
    pre_tokens: z.number(),
    post_tokens: z.number().nullish(),
    duration_ms: z.number().nullish(),
    preserved_segment: z
      .looseObject({ head_uuid: z.string(), anchor_uuid: z.string(), tail_uuid: z.string() })
      .nullish(),
    preserved_messages: z.looseObject({ anchor_uuid: z.string(), uuids: z.array(z.string()) }).nullish(),
  }),
})
export type CompactBoundary = z.infer<typeof CompactBoundary>

export const FilesPersisted = systemMessage("files_persisted", {
  files: z.array(z.looseObject({ filename: z.string(), file_id: z.string() })),
  failed: z.array(z.looseObject({ filename: z.string(), error: z.string() })),
  processed_at: z.string(),
})
export type FilesPersisted = z.infer<typeof FilesPersisted>

export const PluginInstall = systemMessage("plugin_install", {
  status: openEnum(["started", "installed", "failed", "completed"]),
  name: z.string().nullish(),
  error: z.string().nullish(),
})
export type PluginInstall = z.infer<typeof PluginInstall>

export const SessionActivity = openEnum(["idle", "running", "requires_action"])
export type SessionActivity = z.infer<typeof SessionActivity>

/** Off unless asked for by an environment variable; with `sdk_host_only` an SDK keeps it to itself. */
export const SessionStateChanged = systemMessage("session_state_changed", {
  state: SessionActivity,
  sdk_host_only: z.boolean().optional(),
})
export type SessionStateChanged = z.infer<typeof SessionStateChanged>

export const WorkerShuttingDown = systemMessage("worker_shutting_down", { reason: z.string() })
export type WorkerShuttingDown = z.infer<typeof WorkerShuttingDown>

/** Replaces the list known so far. */
export const CommandsChanged = systemMessage("commands_changed", { commands: z.array(SlashCommand) })
export type CommandsChanged = z.infer<typeof CommandsChanged>

export const MemoryRecall = systemMessage("memory_recall", {
  mode: openEnum(["select", "synthesize"]),
  memories: z.array(
    z.looseObject({
      path: z.string(),
      scope: openEnum(["personal", "team", "organization"]),
      content: z.string().nullish(),
    }),
  ),
})
export type MemoryRecall = z.infer<typeof MemoryRecall>

/** Made up by the SDK itself when its session store fails; no CLI writes it. */
export const MirrorError = systemMessage("mirror_error", {
  error: z.string(),
  key: z.looseObject({ projectKey: z.string(), sessionId: z.string(), subpath: z.string().optional() }),
})
export type MirrorError = z.infer<typeof MirrorError>

export const SessionWritesLost = systemMessage("session_writes_lost", {
  error_code: openEnum(["ENOSPC", "EDQUOT"]),
  lost: z.array(openEnum(["transcript", "global_config"])),
  transcript_session_ids: z.array(z.string()).nullish(),
})
export type SessionWritesLost = z.infer<typeof SessionWritesLost>

/** Not in the published types, and its fields with it. */
export const SessionTitleChanged = z.looseObject({
  type: z.literal("system"),
  subtype: z.literal("session_title_changed"),
  ...maybeIdentity,
  title: z.string().nullish(),
})
export type SessionTitleChanged = z.infer<typeof SessionTitleChanged>

/** Notices about the running turn. */

const retry = {
  retry_delay_ms: z.number(),
  attempt: z.number(),
  max_retries: z.number(),
}

export const ApiRetry = systemMessage("api_retry", {
  ...retry,
  error_status: z.number().nullish(),
  error: AssistantError,
  no_response: z.looseObject({ waited_ms: z.number(), retry_wait_ms: z.number() }).nullish(),
})
export type ApiRetry = z.infer<typeof ApiRetry>

/** About a long request of the host; today only `side_question`. */
export const ControlRequestProgress = systemMessage("control_request_progress", {
  request_id: z.string(),
  status: openEnum(["started", "api_retry"]),
  attempt: z.number().nullish(),
  max_retries: z.number().nullish(),
  retry_delay_ms: z.number().nullish(),
  error_status: z.number().nullish(),
})
export type ControlRequestProgress = z.infer<typeof ControlRequestProgress>

const refusal = {
  trigger: openEnum(["refusal"]),
  scope: openEnum(["session", "local"]).nullish(),
  original_model: z.string(),
  request_id: z.string().nullish(),
  api_refusal_category: z.string().nullish(),
  api_refusal_explanation: z.string().nullish(),
  refused_user_message_uuid: z.string().nullish(),
  content: z.string(),
}

export const ModelRefusalFallback = systemMessage("model_refusal_fallback", {
  ...refusal,
  direction: openEnum(["retry", "revert", "sticky"]),
  fallback_model: z.string(),
  retracted_message_uuids: z.array(z.string()).nullish(),
})
export type ModelRefusalFallback = z.infer<typeof ModelRefusalFallback>

export const ModelRefusalNoFallback = systemMessage("model_refusal_no_fallback", refusal)
export type ModelRefusalNoFallback = z.infer<typeof ModelRefusalNoFallback>

export const LocalCommandOutput = systemMessage("local_command_output", { content: z.string() })
export type LocalCommandOutput = z.infer<typeof LocalCommandOutput>

export const ThinkingTokens = systemMessage("thinking_tokens", {
  estimated_tokens: z.number(),
  estimated_tokens_delta: z.number(),
  user_message_uuid: z.string().nullish(),
})
export type ThinkingTokens = z.infer<typeof ThinkingTokens>

export const Notification = systemMessage("notification", {
  key: z.string(),
  text: z.string(),
  priority: openEnum(["low", "medium", "high", "immediate"]),
  color: z.string().nullish(),
  timeout_ms: z.number().nullish(),
})
export type Notification = z.infer<typeof Notification>

export const Informational = systemMessage("informational", {
  content: z.string(),
  level: openEnum(["info", "notice", "suggestion", "warning"]),
  tool_use_id: z.string().nullish(),
  prevent_continuation: z.boolean().nullish(),
  tag: z.string().nullish(),
})
export type Informational = z.infer<typeof Informational>

/** The URL of an elicitation was visited and its flow is done. */
export const ElicitationComplete = systemMessage("elicitation_complete", {
  mcp_server_name: z.string(),
  elicitation_id: z.string(),
})
export type ElicitationComplete = z.infer<typeof ElicitationComplete>

/** Denied without asking anybody. */
export const PermissionDenied = systemMessage("permission_denied", {
  tool_name: z.string(),
  tool_use_id: z.string(),
  agent_id: z.string().nullish(),
  decision_reason_type: z.string().nullish(),
  decision_reason: z.string().nullish(),
  message: z.string(),
})
export type PermissionDenied = z.infer<typeof PermissionDenied>
