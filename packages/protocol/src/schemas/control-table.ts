import type { z } from "zod"
import * as agent from "./control-agent.ts"
import * as host from "./control-host.ts"
import { InitializeReply, InitializeRequest } from "./control-initialize.ts"
import { EmptyReply, OpaqueReply } from "./control-request.ts"
import * as session from "./control-session.ts"
import * as unlisted from "./control-unlisted.ts"
import type { Generation } from "./generations.ts"
import { HookOutput } from "./hooks.ts"
import { ElicitationReply, UserDialogReply } from "./interaction.ts"
import { PermissionResult } from "./permission.ts"

type ControlEntry = {
  request: z.ZodType<{ subtype: string }>
  /** The payload of a success. */
  response: z.ZodType
  /** Who may ask. */
  direction: "host" | "agent" | "both"
  /** The first version that publishes it; "unlisted" ones work in 2.1.325 but are published by none. */
  since: Generation | "unlisted"
}

function fromHost<const Since extends ControlEntry["since"], Q extends ControlEntry["request"], R extends z.ZodType>(
  since: Since,
  request: Q,
  response: R,
) {
  return { request, response, direction: "host", since } as const
}

function fromAgent<const Since extends ControlEntry["since"], Q extends ControlEntry["request"], R extends z.ZodType>(
  since: Since,
  request: Q,
  response: R,
) {
  return { request, response, direction: "agent", since } as const
}

/** Every control request once. */
export const controlRequests = {
  initialize: fromHost("2.0.77", InitializeRequest, InitializeReply),
  interrupt: fromHost("2.0.77", host.InterruptRequest, host.InterruptReply),
  set_permission_mode: fromHost("2.0.77", host.SetPermissionModeRequest, host.SetPermissionModeReply),
  set_model: fromHost("2.0.77", host.SetModelRequest, host.SetModelReply),
  set_max_thinking_tokens: fromHost("2.0.77", host.SetMaxThinkingTokensRequest, EmptyReply),
  mcp_status: fromHost("2.0.77", host.McpStatusRequest, host.McpStatusReply),
  mcp_set_servers: fromHost("2.0.77", host.McpSetServersRequest, host.McpSetServersReply),
  rewind_files: fromHost("2.0.77", host.RewindFilesRequest, host.RewindFilesReply),
  mcp_message: {
    request: agent.McpMessageRequest,
    response: agent.McpMessageReply,
    direction: "both",
    since: "2.0.77",
  },
  can_use_tool: fromAgent("2.0.77", agent.CanUseToolRequest, PermissionResult),
  hook_callback: fromAgent("2.0.77", agent.HookCallbackRequest, HookOutput),

  mcp_reconnect: fromHost("2.1.37", host.McpReconnectRequest, EmptyReply),
  mcp_toggle: fromHost("2.1.37", host.McpToggleRequest, EmptyReply),

  rename_session: fromHost("2.1.325", session.RenameSessionRequest, EmptyReply),
  set_color: fromHost("2.1.325", session.SetColorRequest, EmptyReply),
  get_context_usage: fromHost("2.1.325", session.GetContextUsageRequest, session.GetContextUsageReply),
  get_session_cost: fromHost("2.1.325", session.GetSessionCostRequest, session.GetSessionCostReply),
  list_models: fromHost("2.1.325", host.ListModelsRequest, host.ListModelsReply),
  get_usage: fromHost("2.1.325", session.GetUsageRequest, session.GetUsageReply),
  get_binary_version: fromHost("2.1.325", session.GetBinaryVersionRequest, session.GetBinaryVersionReply),
  mcp_call: fromHost("2.1.325", host.McpCallRequest, OpaqueReply),
  file_suggestions: fromHost("2.1.325", session.FileSuggestionsRequest, session.FileSuggestionsReply),
  cancel_async_message: fromHost("2.1.325", host.CancelAsyncMessageRequest, host.CancelAsyncMessageReply),
  read_file: fromHost("2.1.325", session.ReadFileRequest, session.ReadFileReply),
  seed_read_state: fromHost("2.1.325", session.SeedReadStateRequest, EmptyReply),
  register_repo_root: fromHost("2.1.325", session.RegisterRepoRootRequest, OpaqueReply),
  reload_plugins: fromHost("2.1.325", host.ReloadPluginsRequest, host.ReloadPluginsReply),
  reload_skills: fromHost("2.1.325", host.ReloadSkillsRequest, host.ReloadSkillsReply),
  reload_output_styles: fromHost("2.1.325", host.ReloadOutputStylesRequest, host.ReloadOutputStylesReply),
  set_has_subscribers: fromHost("2.1.325", session.SetHasSubscribersRequest, EmptyReply),
  stop_task: fromHost("2.1.325", host.StopTaskRequest, EmptyReply),
  background_tasks: fromHost("2.1.325", host.BackgroundTasksRequest, host.BackgroundTasksReply),
  get_task_output: fromHost("2.1.325", host.GetTaskOutputRequest, host.GetTaskOutputReply),
  apply_flag_settings: fromHost("2.1.325", session.ApplyFlagSettingsRequest, EmptyReply),
  get_settings: fromHost("2.1.325", session.GetSettingsRequest, session.GetSettingsReply),
  get_hooks_listing: fromHost("2.1.325", session.GetHooksListingRequest, session.GetHooksListingReply),
  update_settings: fromHost("2.1.325", session.UpdateSettingsRequest, EmptyReply),
  list_permission_rules: fromHost("2.1.325", session.ListPermissionRulesRequest, session.ListPermissionRulesReply),
  mcp_read_resource: fromHost("2.1.325", host.McpReadResourceRequest, host.McpReadResourceReply),
  elicitation: fromAgent("2.1.325", agent.ElicitationRequest, ElicitationReply),
  request_user_dialog: fromAgent("2.1.325", agent.RequestUserDialogRequest, UserDialogReply),

  end_session: fromHost("unlisted", unlisted.EndSessionRequest, EmptyReply),
  set_cwd: fromHost("unlisted", unlisted.SetCwdRequest, unlisted.SetCwdReply),
  generate_session_title: fromHost("unlisted", unlisted.GenerateSessionTitleRequest, OpaqueReply),
  side_question: fromHost("unlisted", unlisted.SideQuestionRequest, OpaqueReply),
  get_plan: fromHost("unlisted", unlisted.GetPlanRequest, unlisted.GetPlanReply),
  get_status: fromHost("unlisted", unlisted.GetStatusRequest, unlisted.GetStatusReply),
  export_conversation: fromHost("unlisted", unlisted.ExportConversationRequest, OpaqueReply),
  fork_conversation: fromHost("unlisted", unlisted.ForkConversationRequest, OpaqueReply),
  rewind_conversation: fromHost("unlisted", unlisted.RewindConversationRequest, OpaqueReply),
  add_directory: fromHost("unlisted", unlisted.AddDirectoryRequest, OpaqueReply),
  get_workspace_diff: fromHost("unlisted", unlisted.GetWorkspaceDiffRequest, OpaqueReply),
} as const satisfies Record<string, ControlEntry>

type Table = typeof controlRequests
export type ControlSubtype = keyof Table

/** Subtypes that a side may ask. */
export type ControlSubtypeOf<Side extends "host" | "agent"> = {
  [S in ControlSubtype]: Table[S]["direction"] extends Side | "both" ? S : never
}[ControlSubtype]

export type ControlRequestOf<S extends ControlSubtype> = z.infer<Table[S]["request"]>
export type ControlReplyOf<S extends ControlSubtype> = z.infer<Table[S]["response"]>
