import { z } from "zod"
import { EFFORT_LEVELS, McpServerState, SlashCommand } from "./catalog.ts"
import { AssistantError } from "./conversation.ts"
import { identity, maybeIdentity, openEnum, schemasOf } from "./parts.ts"
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

const ApiKeySource = openEnum([
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

const PluginInfo = z.looseObject({
  name: z.string(),
  path: z.string().nullish(),
  version: z.string().nullish(),
  source: z.string().nullish(),
})

export const SessionActivity = openEnum(["idle", "running", "requires_action"])

const retry = { retry_delay_ms: z.number(), attempt: z.number(), max_retries: z.number() }

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

const hook = { hook_id: z.string(), hook_name: z.string(), hook_event: z.string() }

const hookStreams = { stdout: z.string(), stderr: z.string() }

const TaskUsage = z.looseObject({ total_tokens: z.number(), tool_uses: z.number(), duration_ms: z.number() })

const task = { task_id: z.string(), run_id: z.string().nullish() }

const toolUse = { tool_use_id: z.string().nullish() }

const quiet = { skip_transcript: z.boolean().nullish(), ambient: z.boolean().nullish() }

/** The `system` messages, by their subtype. */
export const systemMessages = schemasOf(
  "subtype",
  { type: z.literal("system"), ...identity },
  {
    /** Comes at the start of every turn, never on connect, and not always as the first line of a turn. */
    init: {
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
    },
    status: {
      status: openEnum(["compacting", "requesting"]).nullable(),
      permissionMode: PermissionMode.nullish(),
      compact_result: z.string().nullish(),
      compact_error: z.string().nullish(),
    },
    compact_boundary: {
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
    },
    files_persisted: {
      files: z.array(z.looseObject({ filename: z.string(), file_id: z.string() })),
      failed: z.array(z.looseObject({ filename: z.string(), error: z.string() })),
      processed_at: z.string(),
    },
    plugin_install: {
      status: openEnum(["started", "installed", "failed", "completed"]),
      name: z.string().nullish(),
      error: z.string().nullish(),
    },
    /** Off unless asked for by an environment variable; with `sdk_host_only` an SDK keeps it to itself. */
    session_state_changed: { state: SessionActivity, sdk_host_only: z.boolean().optional() },
    worker_shutting_down: { reason: z.string() },
    /** Replaces the list known so far. */
    commands_changed: { commands: z.array(SlashCommand) },
    memory_recall: {
      mode: openEnum(["select", "synthesize"]),
      memories: z.array(
        z.looseObject({
          path: z.string(),
          scope: openEnum(["personal", "team", "organization"]),
          content: z.string().nullish(),
        }),
      ),
    },
    /** Made up by the SDK itself when its session store fails; no CLI writes it. */
    mirror_error: {
      error: z.string(),
      key: z.looseObject({ projectKey: z.string(), sessionId: z.string(), subpath: z.string().optional() }),
    },
    session_writes_lost: {
      error_code: openEnum(["ENOSPC", "EDQUOT"]),
      lost: z.array(openEnum(["transcript", "global_config"])),
      transcript_session_ids: z.array(z.string()).nullish(),
    },
    /** Not in the published types, and its fields with it. */
    session_title_changed: { ...maybeIdentity, title: z.string().nullish() },
    api_retry: {
      ...retry,
      error_status: z.number().nullish(),
      error: AssistantError,
      no_response: z.looseObject({ waited_ms: z.number(), retry_wait_ms: z.number() }).nullish(),
    },
    /** About a long request of the host; today only `side_question`. */
    control_request_progress: {
      request_id: z.string(),
      status: openEnum(["started", "api_retry"]),
      attempt: z.number().nullish(),
      max_retries: z.number().nullish(),
      retry_delay_ms: z.number().nullish(),
      error_status: z.number().nullish(),
    },
    model_refusal_fallback: {
      ...refusal,
      direction: openEnum(["retry", "revert", "sticky"]),
      fallback_model: z.string(),
      retracted_message_uuids: z.array(z.string()).nullish(),
    },
    model_refusal_no_fallback: refusal,
    local_command_output: { content: z.string() },
    thinking_tokens: {
      estimated_tokens: z.number(),
      estimated_tokens_delta: z.number(),
      user_message_uuid: z.string().nullish(),
    },
    notification: {
      key: z.string(),
      text: z.string(),
      priority: openEnum(["low", "medium", "high", "immediate"]),
      color: z.string().nullish(),
      timeout_ms: z.number().nullish(),
    },
    informational: {
      content: z.string(),
      level: openEnum(["info", "notice", "suggestion", "warning"]),
      tool_use_id: z.string().nullish(),
      prevent_continuation: z.boolean().nullish(),
      tag: z.string().nullish(),
    },
    /** The URL of an elicitation was visited and its flow is done. */
    elicitation_complete: { mcp_server_name: z.string(), elicitation_id: z.string() },
    /** Denied without asking anybody. */
    permission_denied: {
      tool_name: z.string(),
      tool_use_id: z.string(),
      agent_id: z.string().nullish(),
      decision_reason_type: z.string().nullish(),
      decision_reason: z.string().nullish(),
      message: z.string(),
    },
    hook_started: hook,
    hook_progress: { ...hook, ...hookStreams, output: z.string() },
    /** 2.0.77 leaves out `hook_id`, `output` and `outcome`. */
    hook_response: {
      ...hook,
      ...hookStreams,
      hook_id: z.string().optional(),
      output: z.string().optional(),
      outcome: openEnum(["success", "error", "cancelled"]).optional(),
      exit_code: z.number().nullish(),
    },
    task_notification: {
      ...task,
      ...toolUse,
      ...quiet,
      status: openEnum(["completed", "failed", "stopped"]),
      output_file: z.string(),
      summary: z.string(),
      reason: z.string().nullish(),
      usage: TaskUsage.nullish(),
      resource_links: z.array(z.unknown()).nullish(),
    },
    task_started: {
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
    },
    task_updated: {
      ...task,
      patch: z.looseObject({
        status: openEnum(["pending", "running", "completed", "failed", "killed", "paused"]).nullish(),
        description: z.string().nullish(),
        end_time: z.number().nullish(),
        total_paused_ms: z.number().nullish(),
        error: z.string().nullish(),
        is_backgrounded: z.boolean().nullish(),
      }),
    },
    task_progress: {
      ...task,
      ...toolUse,
      description: z.string(),
      subagent_type: z.string().nullish(),
      usage: TaskUsage,
      last_tool_name: z.string().nullish(),
      summary: z.string().nullish(),
    },
    /** The full set: replaces the one known so far. */
    background_tasks_changed: {
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
    },
  },
)
export type SystemMessageOf<Subtype extends keyof typeof systemMessages> = z.infer<(typeof systemMessages)[Subtype]>
