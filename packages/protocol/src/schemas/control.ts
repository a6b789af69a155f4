import { z } from "zod"
import * as agent from "./control-agent.ts"
import * as host from "./control-host.ts"
import * as session from "./control-session.ts"
import { HookOutput } from "./hooks.ts"
import { EmptyReply, type Generation, OpaqueReply, openEnum } from "./parts.ts"
import { ElicitationReply, PermissionResult, UserDialogReply } from "./permission.ts"

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
  initialize: fromHost("2.0.77", host.InitializeRequest, host.InitializeReply),
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

  end_session: fromHost("unlisted", session.EndSessionRequest, EmptyReply),
  set_cwd: fromHost("unlisted", session.SetCwdRequest, session.SetCwdReply),
  generate_session_title: fromHost("unlisted", session.GenerateSessionTitleRequest, OpaqueReply),
  side_question: fromHost("unlisted", session.SideQuestionRequest, OpaqueReply),
  get_plan: fromHost("unlisted", session.GetPlanRequest, session.GetPlanReply),
  get_status: fromHost("unlisted", session.GetStatusRequest, session.GetStatusReply),
  export_conversation: fromHost("unlisted", session.ExportConversationRequest, OpaqueReply),
  fork_conversation: fromHost("unlisted", session.ForkConversationRequest, OpaqueReply),
  rewind_conversation: fromHost("unlisted", session.RewindConversationRequest, OpaqueReply),
  add_directory: fromHost("unlisted", session.AddDirectoryRequest, OpaqueReply),
  get_workspace_diff: fromHost("unlisted", session.GetWorkspaceDiffRequest, OpaqueReply),
} as const satisfies Record<string, ControlEntry>

type Table = typeof controlRequests
export type ControlSubtype = keyof Table

/** Subtypes that a side may ask. */
export type ControlSubtypeOf<Side extends "host" | "agent"> = {
  [S in ControlSubtype]: Table[S]["direction"] extends Side | "both" ? S : never
}[ControlSubtype]

export type ControlRequestOf<S extends ControlSubtype> = z.infer<Table[S]["request"]>
export type ControlReplyOf<S extends ControlSubtype> = z.infer<Table[S]["response"]>

/** `error_code` of 2.1.325's error replies; older versions send none. The list is not complete. */
export const CONTROL_ERROR_CODES = [
  "unsupported_request",
  "invalid_request",
  "catalog_unknown",
  "not_found",
  "restricted_by_org",
  "unavailable_for_account",
  "not_offered",
  "alias_1m_disabled",
  "alias_1m_unsupported",
  "blocked_by_hook",
  "hooks_unchecked",
  "hooks_unchecked_plugin_not_loaded",
  "check_failed",
  "check_unreachable",
  "check_server_error",
  "check_rejected",
  "credits_required",
  "rate_limit",
  "auth_failed",
  "oauth_org_not_allowed",
  "model_not_current",
  "verdict_pending",
  "internal_error",
  "invalid_mode",
  "bypass_restricted",
  "bypass_disabled",
  "bypass_not_launched",
  "auto_mode_settings",
  "auto_mode_circuit_breaker",
  "auto_mode_fast_mode",
  "auto_mode_model",
  "auto_mode_unavailable",
] as const
export const ControlErrorCode = openEnum(CONTROL_ERROR_CODES)
export type ControlErrorCode = z.infer<typeof ControlErrorCode>

function requestEnvelope<Request extends z.ZodType>(request: Request) {
  return z.looseObject({
    type: z.literal("control_request"),
    request_id: z.string(),
    request,
    // 2.1.325 acknowledges a control frame that carries one with `command_lifecycle`.
    uuid: z.string().optional(),
  })
}

/** The envelope alone, for a request of any subtype. */
export const ControlRequest = requestEnvelope(z.looseObject({ subtype: z.string() }))
export type ControlRequest = z.infer<typeof ControlRequest>

type Side = "host" | "agent"
type RequestSchemas<S extends Side> = {
  [T in ControlSubtypeOf<S>]: ReturnType<typeof requestEnvelope<(typeof controlRequests)[T]["request"]>>
}

/** The whole `control_request` line for each subtype that a side may ask. The overload says which key has which schema. */
export function requestSchemas<S extends Side>(side: S): RequestSchemas<S>
export function requestSchemas(side: Side): Record<string, z.ZodType> {
  const schemas: Record<string, z.ZodType> = {}
  for (const [subtype, { direction, request }] of Object.entries(controlRequests)) {
    if (direction === side || direction === "both") schemas[subtype] = requestEnvelope<z.ZodType>(request)
  }
  return schemas
}

/** What is still unanswered; to be honoured only on the reply to `initialize`. */
const pending = {
  pending_permission_requests: z.array(requestEnvelope(agent.CanUseToolRequest)).optional(),
  pending_user_dialog_requests: z.array(requestEnvelope(agent.RequestUserDialogRequest)).optional(),
  pending_elicitation_requests: z.array(requestEnvelope(agent.ElicitationRequest)).optional(),
}

export const ControlSuccess = z.looseObject({
  subtype: z.literal("success"),
  request_id: z.string(),
  /** Its shape follows from the request: `controlRequests[subtype].response`. */
  response: z.unknown().optional(),
  ...pending,
})
export type ControlSuccess = z.infer<typeof ControlSuccess>

export const ControlError = z.looseObject({
  subtype: z.literal("error"),
  request_id: z.string(),
  error: z.string(),
  error_code: ControlErrorCode.nullish(),
  model: z.unknown().optional(),
  ...pending,
})
export type ControlError = z.infer<typeof ControlError>

/** An id may be answered more than once, or be unknown: the first answer counts, the rest is no error. */
export const ControlResponse = z.looseObject({
  type: z.literal("control_response"),
  response: z.discriminatedUnion("subtype", [ControlSuccess, ControlError]),
})
export type ControlResponse = z.infer<typeof ControlResponse>

/** The sender no longer wants the answer to its own request. 2.1.37 exits when it receives one. */
export const ControlCancelRequest = z.looseObject({
  type: z.literal("control_cancel_request"),
  request_id: z.string(),
})
export type ControlCancelRequest = z.infer<typeof ControlCancelRequest>
