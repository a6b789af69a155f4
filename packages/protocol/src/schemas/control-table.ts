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
  initialize: fromHost("A", InitializeRequest, InitializeReply),
  interrupt: fromHost("A", host.InterruptRequest, host.InterruptReply),
  set_permission_mode: fromHost("A", host.SetPermissionModeRequest, host.SetPermissionModeReply),
  set_model: fromHost("A", host.SetModelRequest, host.SetModelReply),
  set_max_thinking_tokens: fromHost("A", host.SetMaxThinkingTokensRequest, EmptyReply),
  mcp_status: fromHost("A", host.McpStatusRequest, host.McpStatusReply),
  mcp_set_servers: fromHost("A", host.McpSetServersRequest, host.McpSetServersReply),
  rewind_files: fromHost("A", host.RewindFilesRequest, host.RewindFilesReply),
  mcp_message: { request: agent.McpMessageRequest, response: agent.McpMessageReply, direction: "both", since: "A" },
  can_use_tool: fromAgent("A", agent.CanUseToolRequest, PermissionResult),
  hook_callback: fromAgent("A", agent.HookCallbackRequest, HookOutput),

  mcp_reconnect: fromHost("B", host.McpReconnectRequest, EmptyReply),
  mcp_toggle: fromHost("B", host.McpToggleRequest, EmptyReply),

  rename_session: fromHost("N", session.RenameSessionRequest, EmptyReply),
  set_color: fromHost("N", session.SetColorRequest, EmptyReply),
  get_context_usage: fromHost("N", session.GetContextUsageRequest, session.GetContextUsageReply),
  get_session_cost: fromHost("N", session.GetSessionCostRequest, session.GetSessionCostReply),
  list_models: fromHost("N", host.ListModelsRequest, host.ListModelsReply),
  get_usage: fromHost("N", session.GetUsageRequest, session.GetUsageReply),
  get_binary_version: fromHost("N", session.GetBinaryVersionRequest, session.GetBinaryVersionReply),
  mcp_call: fromHost("N", host.McpCallRequest, OpaqueReply),
  file_suggestions: fromHost("N", session.FileSuggestionsRequest, session.FileSuggestionsReply),
  cancel_async_message: fromHost("N", host.CancelAsyncMessageRequest, host.CancelAsyncMessageReply),
  read_file: fromHost("N", session.ReadFileRequest, session.ReadFileReply),
  seed_read_state: fromHost("N", session.SeedReadStateRequest, EmptyReply),
  register_repo_root: fromHost("N", session.RegisterRepoRootRequest, OpaqueReply),
  reload_plugins: fromHost("N", host.ReloadPluginsRequest, host.ReloadPluginsReply),
  reload_skills: fromHost("N", host.ReloadSkillsRequest, host.ReloadSkillsReply),
  reload_output_styles: fromHost("N", host.ReloadOutputStylesRequest, host.ReloadOutputStylesReply),
  set_has_subscribers: fromHost("N", session.SetHasSubscribersRequest, EmptyReply),
  stop_task: fromHost("N", host.StopTaskRequest, EmptyReply),
  background_tasks: fromHost("N", host.BackgroundTasksRequest, host.BackgroundTasksReply),
  get_task_output: fromHost("N", host.GetTaskOutputRequest, host.GetTaskOutputReply),
  apply_flag_settings: fromHost("N", session.ApplyFlagSettingsRequest, EmptyReply),
  get_settings: fromHost("N", session.GetSettingsRequest, session.GetSettingsReply),
  get_hooks_listing: fromHost("N", session.GetHooksListingRequest, session.GetHooksListingReply),
  update_settings: fromHost("N", session.UpdateSettingsRequest, EmptyReply),
  list_permission_rules: fromHost("N", session.ListPermissionRulesRequest, session.ListPermissionRulesReply),
  mcp_read_resource: fromHost("N", host.McpReadResourceRequest, host.McpReadResourceReply),
  elicitation: fromAgent("N", agent.ElicitationRequest, ElicitationReply),
  request_user_dialog: fromAgent("N", agent.RequestUserDialogRequest, UserDialogReply),

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
