import { type Envelope, fieldOf, textOf } from "@signalbox/protocol/envelope"
import { type DeniedCall, ENFORCED_HOOK_MS, eventOfCallback, TOOL_EVENT } from "@signalbox/protocol/runner-wire"
import type { LinkSettings } from "../link/hub-link.ts"

export interface HeldHooksOptions extends Pick<LinkSettings, "clock"> {
  /** No hub has decided in time. */
  readonly deny: (requestId: string, call: DeniedCall) => void
}

interface HeldHook {
  readonly line: string
  readonly cancel: () => void
}

/** Denied before the agent's own time-out, in words that say why. */
const HOLD_MS = ENFORCED_HOOK_MS - 5_000

/**
 * Tool calls that an enforcing hub has not decided about yet. A hub that restarts knows nothing of those it was asked before,
 * so they are brought to it again. No agent runs a tool because a hub was away.
 */
export class HeldHooks {
  readonly #options: HeldHooksOptions
  readonly #held = new Map<string, HeldHook>()

  constructor(options: HeldHooksOptions) {
    this.#options = options
  }

  /** The lines of all that are open, in the order in which the agent wrote them. */
  get lines(): readonly string[] {
    return [...this.#held.values()].map(({ line }) => line)
  }

  has(requestId: string): boolean {
    return this.#held.has(requestId)
  }

  /** A line of the agent. */
  heard(message: Envelope, line: string): void {
    const requestId = textOf(message, "request_id")
    if (requestId === undefined) return
    if (message.type === "control_cancel_request") return this.release(requestId)
    if (message.type !== "control_request" || !isToolHook(message) || this.#held.has(requestId)) return
    const hook = fieldOf(fieldOf(message, "request"), "input")
    const call = { toolName: textOf(hook, "tool_name"), toolUseId: textOf(hook, "tool_use_id") }
    const cancel = this.#options.clock.after(HOLD_MS, () => this.#options.deny(requestId, call), "idle")
    this.#held.set(requestId, { line, cancel })
  }

  /** A line for the agent was written: it may be a decision. */
  written({ type, response }: Envelope): void {
    if (type === "control_response") this.release(textOf(response, "request_id") ?? "")
  }

  /** Decided, or nobody is left to hear it. */
  release(requestId: string): void {
    this.#held.get(requestId)?.cancel()
    this.#held.delete(requestId)
  }

  releaseAll(): void {
    for (const requestId of this.#held.keys()) this.release(requestId)
  }
}

/** By the id of its callback, as the hub knows it, and by its own word; one that tells neither may be one. */
function isToolHook(message: Envelope): boolean {
  const request = fieldOf(message, "request")
  if (textOf(request, "subtype") !== "hook_callback") return false
  const registered = eventOfCallback(textOf(request, "callback_id"))
  const named = textOf(fieldOf(request, "input"), "hook_event_name")
  return registered === TOOL_EVENT || (named ?? registered ?? TOOL_EVENT) === TOOL_EVENT
}
