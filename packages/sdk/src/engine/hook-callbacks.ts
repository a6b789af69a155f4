import type { HookRegistration } from "@signalbox/protocol"
import { textOf } from "../base/wire.ts"
import type { HookCallback, HookInput } from "../types/hooks.ts"
import type { Options } from "../types/options.ts"
import { type AgentRequest, answer, type Responder } from "./agent-requests.ts"

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
    return answer(await callback(inputOf(body), textOf(body, "tool_use_id"), { signal }))
  }
  return { registrations: hooks === undefined ? undefined : registrations, mustBlock, respond }
}

// The overload is the agent's promise of what the event carries; a program that wants certainty checks it.
function inputOf(body: AgentRequest["body"]): HookInput
function inputOf(body: AgentRequest["body"]): unknown {
  return body["input"]
}
