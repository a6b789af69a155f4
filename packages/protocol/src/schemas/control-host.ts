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
import { requests } from "./parts.ts"
import { PermissionMode } from "./permission.ts"
import { Capability, SessionActivity } from "./system.ts"

/** Requests of a host to its agent at work; requests about the session around it are in control-session.ts. */
export const hostRequests = {
  ...requests("host", "2.0.77", {
    initialize: {
      asks: {
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
      },
      replies: z.looseObject({
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
      }),
    },
    interrupt: {
      asks: { cancel_queued: z.boolean().optional() },
      /** 2.1.37 answers with nothing. */
      replies: z
        .looseObject({ still_queued: z.array(z.string()).optional(), cancelled: z.array(z.string()).optional() })
        .nullish(),
    },
    set_permission_mode: {
      asks: { mode: PermissionMode },
      /** 2.1.37 answers twice with the same id, the second time with nothing. */
      replies: z.looseObject({ mode: PermissionMode }).nullish(),
    },
    /** Omitted or `"default"` resets; `null` does so only in 2.1.325. */
    set_model: {
      asks: { model: z.string().nullish() },
      replies: z.looseObject({ model: z.string().nullish() }).nullish(),
    },
    set_max_thinking_tokens: {
      asks: { max_thinking_tokens: z.number().nullish(), thinking_display: ThinkingDisplay.nullish() },
    },
    mcp_status: {
      asks: { liveReply: z.boolean().optional() },
      replies: z.looseObject({ mcpServers: z.array(McpServerStatus) }),
    },
    mcp_set_servers: {
      asks: { servers: z.record(z.string(), McpServerConfig) },
      replies: z.looseObject({
        added: z.array(z.string()),
        removed: z.array(z.string()),
        errors: z.record(z.string(), z.unknown()),
      }),
    },
    rewind_files: {
      asks: { user_message_id: z.string(), dry_run: z.boolean().optional() },
      /** A dry run that cannot rewind is a success with `canRewind: false`; a real one is an error. */
      replies: z.looseObject({
        canRewind: z.boolean(),
        error: z.string().nullish(),
        filesChanged: z.array(z.string()).nullish(),
        insertions: z.number().nullish(),
        deletions: z.number().nullish(),
        skippedLinks: z.number().nullish(),
      }),
    },
  }),
  ...requests("host", "2.1.37", {
    mcp_reconnect: {
      asks: { serverName: z.string() },
    },
    mcp_toggle: {
      asks: { serverName: z.string(), enabled: z.boolean() },
    },
  }),
  ...requests("host", "2.1.325", {
    list_models: {
      replies: z.looseObject({ models: z.array(ModelInfo) }),
    },
    mcp_call: {
      asks: {
        tool: z.string(),
        arguments: z.record(z.string(), z.unknown()).optional(),
        expires_at: z.unknown().optional(),
        timeout_ms: z.number().optional(),
        result_not_for_model: z.boolean().optional(),
        check_permissions: z.boolean().optional(),
        input_files: z.unknown().optional(),
        output_files: z.unknown().optional(),
      },
    },
    cancel_async_message: {
      asks: { message_uuid: z.string() },
      replies: z.looseObject({ cancelled: z.boolean() }),
    },
    reload_plugins: {
      asks: {
        hold_on_cache_impact: z.boolean().optional(),
        add_plugins: z.array(z.unknown()).optional(),
        refuse_if_busy: z.boolean().optional(),
      },
      replies: z.looseObject({
        commands: z.array(SlashCommand),
        agents: z.array(AgentInfo),
        plugins: z.array(z.unknown()),
        mcpServers: z.array(McpServerStatus),
        error_count: z.number(),
        held: z.unknown().optional(),
        cache_impact: z.unknown().optional(),
      }),
    },
    reload_skills: {
      replies: z.looseObject({ skills: z.array(SlashCommand) }),
    },
    reload_output_styles: {
      replies: z.looseObject({ available_output_styles: z.array(z.string()) }),
    },
    stop_task: {
      asks: { task_id: z.string() },
    },
    background_tasks: {
      asks: { tool_use_id: z.string().optional() },
      /** Absent means true. */
      replies: z.looseObject({ backgrounded: z.boolean().optional() }).nullish(),
    },
    get_task_output: {
      asks: { task_id: z.string() },
      replies: z.looseObject({ output: z.string(), total_bytes: z.number(), truncated: z.boolean() }),
    },
    mcp_read_resource: {
      asks: { serverName: z.string(), uri: z.string() },
      replies: z.looseObject({ contents: z.array(McpResourceContents) }),
    },
  }),
}
