import type { HookCall } from "./activity.ts"

export type OnFailure = "open" | "block"

const REASON = "the hub that decides about this is away, and this hook blocks when it cannot be asked"

/** The answer that a runner gives to a hook in the place of a hub that is away. */
export function hookAnswer({ requestId, event }: HookCall, how: OnFailure): string {
  return JSON.stringify({
    type: "control_response",
    response: { subtype: "success", request_id: requestId, response: how === "open" ? {} : blocking(event) },
  })
}

function blocking(event: string): Readonly<Record<string, unknown>> {
  const block = { decision: "block", reason: REASON }
  if (event !== "PreToolUse") return block
  const hookSpecificOutput = { hookEventName: event, permissionDecision: "deny", permissionDecisionReason: REASON }
  return { ...block, hookSpecificOutput }
}
