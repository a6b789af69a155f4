import { startDeadline } from "../base/deadline.ts"
import { fieldOf, isObject, textOf } from "../base/wire.ts"
import type { Options } from "../types/options.ts"
import type { CanUseToolOptions, PermissionResult } from "../types/permissions.ts"
import { type AgentRequest, answer, type Responder, SILENCE } from "./agent-requests.ts"

type Settings = Pick<Options, "canUseTool" | "permissionTimeoutMs">

/** Answers `can_use_tool`. */
export function permissionResponder({ canUseTool, permissionTimeoutMs }: Settings): Responder {
  return async (request) => {
    if (canUseTool === undefined) throw new Error("canUseTool callback is not provided.")
    const { body } = request
    const input = fieldOf(body, "input") ?? {}
    const asked = within(permissionTimeoutMs, request.signal, (signal) =>
      canUseTool(textOf(body, "tool_name") ?? "", input, callbackOptions(request, signal)),
    )
    const decision = await asked
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
function within(
  ms: number | undefined,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Decision>,
): Promise<Decision> {
  return ms === undefined ? ask(signal) : inTime(ms, signal, ask)
}

async function inTime(
  ms: number,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Decision>,
): Promise<Decision> {
  const late = new AbortController()
  let callOff: (() => void) | undefined
  const timeout = new Promise<Decision>((resolve) => {
    callOff = startDeadline(ms, () => {
      resolve({ behavior: "deny", message: `Permission was not decided within ${ms} ms, so it was denied.` })
      late.abort()
    })
  })
  try {
    return await Promise.race([ask(AbortSignal.any([signal, late.signal])), timeout])
  } finally {
    callOff?.()
  }
}
