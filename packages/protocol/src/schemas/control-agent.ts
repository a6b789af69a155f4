import { z } from "zod"
import { JsonRpcMessage } from "./catalog.ts"
import { ToolInput } from "./content.ts"
import { HookInput } from "./hooks.ts"
import { controlRequest, openEnum } from "./parts.ts"
import { PermissionUpdate } from "./permission.ts"

/** What an agent asks of its host. */

export const CanUseToolRequest = controlRequest("can_use_tool", {
  tool_name: z.string(),
  input: ToolInput,
  tool_use_id: z.string(),
  permission_suggestions: z.array(PermissionUpdate).nullish(),
  blocked_path: z.string().nullish(),
  /** A sentence; the kind of reason is in `decision_reason_type`. */
  decision_reason: z.string().nullish(),
  decision_reason_type: z.string().nullish(),
  agent_id: z.string().nullish(),
  description: z.string().nullish(),
  title: z.string().nullish(),
  display_name: z.string().nullish(),
  mcp_server: z.looseObject({ name: z.string(), source: z.string().nullish() }).nullish(),
  classifier_approvable: z.boolean().nullish(),
  suppress_always_allow_rule: z.boolean().nullish(),
  default_to_no: z.boolean().nullish(),
  matched_ask_rule: z.unknown().optional(),
  requires_user_interaction: z.boolean().nullish(),
  // The rest is seen on 2.1.325, not published.
  decision_reason_hook_event: z.string().nullish(),
  decision_reason_hook_source: z.string().nullish(),
  server_policy_ask_only: z.boolean().nullish(),
})
export type CanUseToolRequest = z.infer<typeof CanUseToolRequest>

export const HookCallbackRequest = controlRequest("hook_callback", {
  callback_id: z.string(),
  input: HookInput,
  tool_use_id: z.string().nullish(),
  issued_at: z.unknown().optional(),
  deadline_ms: z.number().nullish(),
})
export type HookCallbackRequest = z.infer<typeof HookCallbackRequest>

/** Both ways: the agent calls a server hosted by the SDK, or such a server notifies the agent. */
export const McpMessageRequest = controlRequest("mcp_message", { server_name: z.string(), message: JsonRpcMessage })
export type McpMessageRequest = z.infer<typeof McpMessageRequest>

/** Only what the host answers has content; the agent answers a notification with nothing. */
export const McpMessageReply = z.looseObject({ mcp_response: JsonRpcMessage.optional() }).nullish()
export type McpMessageReply = z.infer<typeof McpMessageReply>

export const ElicitationRequest = controlRequest("elicitation", {
  mcp_server_name: z.string(),
  message: z.string(),
  mode: openEnum(["form", "url"]).nullish(),
  url: z.string().nullish(),
  elicitation_id: z.string().nullish(),
  requested_schema: z.record(z.string(), z.unknown()).nullish(),
  property_order: z.array(z.string()).nullish(),
  title: z.string().nullish(),
  display_name: z.string().nullish(),
  description: z.string().nullish(),
})
export type ElicitationRequest = z.infer<typeof ElicitationRequest>

/** A host that cannot show the dialog stays silent: another one may answer. */
export const RequestUserDialogRequest = controlRequest("request_user_dialog", {
  dialog_kind: z.string(),
  payload: z.unknown().optional(),
  tool_use_id: z.string().nullish(),
})
export type RequestUserDialogRequest = z.infer<typeof RequestUserDialogRequest>
