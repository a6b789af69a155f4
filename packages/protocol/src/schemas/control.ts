import { z } from "zod"
import { JsonRpcMessage } from "./catalog.ts"
import { ToolInput } from "./content.ts"
import { hostRequests } from "./control-host.ts"
import { sessionRequests } from "./control-session.ts"
import { HookInput, HookOutput } from "./hooks.ts"
import { openEnum, requests } from "./parts.ts"
import { ElicitationReply, PermissionResult, PermissionUpdate, UserDialogReply } from "./permission.ts"

/** Requests of an agent to its host. */
const agentRequests = {
  ...requests("agent", "2.0.77", {
    can_use_tool: {
      asks: {
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
      },
      replies: PermissionResult,
    },
    hook_callback: {
      asks: {
        callback_id: z.string(),
        input: HookInput,
        tool_use_id: z.string().nullish(),
        issued_at: z.unknown().optional(),
        deadline_ms: z.number().nullish(),
      },
      replies: HookOutput,
    },
  }),
  ...requests("agent", "2.1.325", {
    elicitation: {
      asks: {
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
      },
      replies: ElicitationReply,
    },
    /** A host that cannot show the dialog stays silent: another one may answer. */
    request_user_dialog: {
      asks: { dialog_kind: z.string(), payload: z.unknown().optional(), tool_use_id: z.string().nullish() },
      replies: UserDialogReply,
    },
  }),
  /** Both ways: the agent calls a server hosted by the SDK, or such a server notifies the agent. */
  ...requests("both", "2.0.77", {
    mcp_message: {
      asks: { server_name: z.string(), message: JsonRpcMessage },
      /** Only what the host answers has content; the agent answers a notification with nothing. */
      replies: z.looseObject({ mcp_response: JsonRpcMessage.optional() }).nullish(),
    },
  }),
}

/** Every control request once. */
export const controlRequests = { ...hostRequests, ...agentRequests, ...sessionRequests }

type Table = typeof controlRequests
export type ControlSubtype = keyof Table

/** Subtypes that a side may ask. */
export type ControlSubtypeOf<Side extends "host" | "agent"> = {
  [S in ControlSubtype]: Table[S]["direction"] extends Side | "both" ? S : never
}[ControlSubtype]

export type ControlRequestOf<S extends ControlSubtype> = z.infer<Table[S]["request"]>
export type ControlReplyOf<S extends ControlSubtype> = z.infer<Table[S]["response"]>
export type InitializeReply = ControlReplyOf<"initialize">

function requestEnvelope<Request extends z.ZodType>(request: Request) {
  return z.looseObject({
    type: z.literal("control_request"),
    request_id: z.string(),
    request,
    // 2.1.325 acknowledges a control frame that carries one with `command_lifecycle`.
    uuid: z.string().optional(),
  })
}

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

/** The unanswered requests; to be honoured only on the reply to `initialize`. */
const pending = {
  pending_permission_requests: z.array(requestEnvelope(agentRequests.can_use_tool.request)).optional(),
  pending_user_dialog_requests: z.array(requestEnvelope(agentRequests.request_user_dialog.request)).optional(),
  pending_elicitation_requests: z.array(requestEnvelope(agentRequests.elicitation.request)).optional(),
}

const ControlSuccess = z.looseObject({
  subtype: z.literal("success"),
  request_id: z.string(),
  /** Its shape follows from the request: `controlRequests[subtype].response`. */
  response: z.unknown().optional(),
  ...pending,
})

const ControlError = z.looseObject({
  subtype: z.literal("error"),
  request_id: z.string(),
  error: z.string(),
  /** Since 2.1.325; docs/spec/control.md lists those that were seen. */
  error_code: z.string().nullish(),
  model: z.unknown().optional(),
  ...pending,
})

/** An id may be answered more than once, or be unknown: the first answer counts, the rest is no error. */
export const ControlResponse = z.looseObject({
  type: z.literal("control_response"),
  response: z.discriminatedUnion("subtype", [ControlSuccess, ControlError]),
})

/** The sender no longer wants the answer to its own request. 2.1.37 exits when it receives one. */
export const ControlCancelRequest = z.looseObject({
  type: z.literal("control_cancel_request"),
  request_id: z.string(),
})
