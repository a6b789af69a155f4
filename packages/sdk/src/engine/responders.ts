import type { HookRegistration } from "@signalbox/protocol"
import { within } from "../base/deadline.ts"
import { defined, fieldOf, isObject, textOf, trusted } from "../base/wire.ts"
import type { HookCallback } from "../types/hooks.ts"
import type { Options } from "../types/options.ts"
import type {
  CanUseToolOptions,
  ElicitationRequest,
  PermissionResult,
  UserDialogRequest,
} from "../types/permissions.ts"
import { type AgentRequest, answer, type Reply, type Responder, SILENCE } from "./agent-requests.ts"

type Settings = Pick<Options, "canUseTool" | "permissionTimeoutMs">

/** Answers `can_use_tool`. */
export function permissionResponder({ canUseTool, permissionTimeoutMs }: Settings): Responder {
  return async (request) => {
    if (canUseTool === undefined) throw new Error("canUseTool callback is not provided.")
    const { body } = request
    const input = fieldOf(body, "input") ?? {}
    const decision = await decided(permissionTimeoutMs, request.signal, (signal) =>
      canUseTool(textOf(body, "tool_name") ?? "", input, callbackOptions(request, signal)),
    )
    return decision === null ? SILENCE : answer(completed(decision, input, body["tool_use_id"]))
  }
}

/** `toolUseID` is always the request's. An allow carries the input: without it CLI 2.1.37 denies the tool. */
function completed(decision: unknown, input: Readonly<Record<string, unknown>>, toolUseID: unknown): unknown {
  if (!isObject(decision)) return { toolUseID }
  const needsInput = decision["behavior"] === "allow" && decision["updatedInput"] === undefined
  return { ...decision, ...(needsInput ? { updatedInput: input } : {}), toolUseID }
}

/**
 * In the order of the official package, whose fields are there even when they have no value. The overload is the agent's
 * promise of what it sends.
 */
function callbackOptions(request: AgentRequest, signal: AbortSignal): CanUseToolOptions
function callbackOptions({ id, body }: AgentRequest, signal: AbortSignal): unknown {
  return {
    signal,
    suggestions: body["permission_suggestions"],
    blockedPath: body["blocked_path"],
    ...present("mcpServer", picked(body["mcp_server"], { name: "name", source: "source" })),
    decisionReason: body["decision_reason"],
    ...present("decisionReasonType", body["decision_reason_type"]),
    title: body["title"],
    displayName: body["display_name"],
    description: body["description"],
    defaultToNo: body["default_to_no"],
    suppressAlwaysAllowRule: body["suppress_always_allow_rule"],
    toolUseID: body["tool_use_id"],
    agentID: body["agent_id"],
    requestId: id,
    ...present("requiresUserInteraction", body["requires_user_interaction"]),
    ...present("matchedAskRule", picked(body["matched_ask_rule"], RULE_FIELDS)),
    ...present("serverPolicyAskOnly", body["server_policy_ask_only"]),
  }
}

const RULE_FIELDS = { source: "source", toolName: "tool_name", ruleContent: "rule_content" }

function present(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value }
}

function picked(value: unknown, fields: Readonly<Record<string, string>>): unknown {
  if (!isObject(value)) return value === undefined || value === null ? value : {}
  return Object.fromEntries(
    Object.entries(fields).flatMap(([ours, wire]) => (value[wire] === undefined ? [] : [[ours, value[wire]]])),
  )
}

type Decision = PermissionResult | null

/** The callback's decision, or a denial when it takes too long. Its signal aborts in either case that it came too late. */
async function decided(
  ms: number | undefined,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Decision>,
): Promise<Decision> {
  if (ms === undefined) return ask(signal)
  const late = new AbortController()
  return within<Decision>(ms, ask(AbortSignal.any([signal, late.signal])), () => {
    // After the denial: whatever the callback says to its signal comes too late.
    queueMicrotask(() => late.abort())
    return { behavior: "deny", message: `Permission was not decided within ${ms} ms, so it was denied.` }
  })
}

export interface HookCallbacks {
  /** For `initialize`; undefined when the option was left out. */
  readonly registrations: Record<string, HookRegistration[]> | undefined
  /** Whether some hook must stop what it watches when it fails. */
  readonly mustBlock: boolean
  readonly respond: Responder
}

/** Gives every callback an id, counted over all events, and answers `hook_callback` by it. */
export function hookCallbacks(hooks: Options["hooks"]): HookCallbacks {
  const callbacks = new Map<string, HookCallback>()
  const registrations: Record<string, HookRegistration[]> = {}
  let mustBlock = false
  for (const [event, given] of Object.entries(hooks ?? {})) {
    // A program may compute what it passes: whatever its type says, there may be nothing.
    const matchers: typeof given | null | undefined = given
    if (!matchers?.length) continue
    registrations[event] = matchers.map(({ matcher, hooks: listed, timeout, onFailure }) => {
      // Whatever else a program without types may say, it does not say that it may go on.
      if ((onFailure ?? "continue") !== "continue") mustBlock = true
      const hookCallbackIds = listed.map((callback) => {
        const id = `hook_${callbacks.size}`
        callbacks.set(id, callback)
        return id
      })
      return { matcher, hookCallbackIds, timeout, onFailure }
    })
  }
  const respond: Responder = async ({ body, signal }) => {
    const id = textOf(body, "callback_id") ?? ""
    const callback = callbacks.get(id)
    if (callback === undefined) throw new Error(`No hook callback found for ID: ${id}`)
    // A program that wants certainty about what the event carries checks it.
    return answer(await callback(trusted(body["input"]), textOf(body, "tool_use_id"), { signal }))
  }
  return { registrations: hooks === undefined ? undefined : registrations, mustBlock, respond }
}

/** Answers with what the program's callback says; without a callback with `otherwise`, since another host may answer. */
export function asking<Request>(
  callback: ((request: Request, options: { signal: AbortSignal; requestId: string }) => Promise<unknown>) | undefined,
  read: (body: AgentRequest["body"]) => Request,
  otherwise: Reply,
): Responder {
  return async ({ id, body, signal }) => {
    if (callback === undefined) return otherwise
    const result = await callback(read(body), { signal, requestId: id })
    return result === null ? SILENCE : answer(result)
  }
}

// The overloads are the agent's promise of what it sends; here it only gets the program's names.
export function elicitationOf(body: AgentRequest["body"]): ElicitationRequest
export function elicitationOf(body: AgentRequest["body"]): unknown {
  return {
    serverName: body["mcp_server_name"],
    message: body["message"],
    mode: body["mode"],
    url: body["url"],
    elicitationId: body["elicitation_id"],
    requestedSchema: body["requested_schema"],
    title: body["title"],
    displayName: body["display_name"],
    description: body["description"],
  }
}

export function dialogOf(body: AgentRequest["body"]): UserDialogRequest
export function dialogOf(body: AgentRequest["body"]): unknown {
  const told = defined({ toolUseID: textOf(body, "tool_use_id") })
  return { dialogKind: body["dialog_kind"], payload: body["payload"], ...told }
}
