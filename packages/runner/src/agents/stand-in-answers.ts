import type { OpenRequest } from "@signalbox/protocol/agent-state"

export type OnFailure = "open" | "block"

type HookCall = Extract<OpenRequest, { kind: "hook" }>

const HOOK_REASON = "the hub that decides about this is away, and this hook blocks when it cannot be asked"
const CALL_REASON = "the hub was away while this was asked, so that its answer is lost: try again"

/** The runner's answer to a hook, given in place of a hub that is away. */
export function hookAnswer(requestId: string, { event }: HookCall, how: OnFailure): string {
  const response = how === "open" ? {} : blocking(event)
  return answer({ subtype: "success", request_id: requestId, response })
}

/** The runner's answer to a call of an agent, such as one of a tool, whose own answer will not come any more. */
export function callAnswer(requestId: string): string {
  return answer({ subtype: "error", request_id: requestId, error: CALL_REASON })
}

function blocking(event: string): Readonly<Record<string, unknown>> {
  const block = { decision: "block", reason: HOOK_REASON }
  if (event !== "PreToolUse") return block
  const permission = { permissionDecision: "deny", permissionDecisionReason: HOOK_REASON }
  return { ...block, hookSpecificOutput: { hookEventName: event, ...permission } }
}

function answer(response: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ type: "control_response", response })
}
