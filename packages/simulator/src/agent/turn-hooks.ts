import { textOf } from "@signalbox/protocol/envelope"
import type { QueuedMessage } from "../wire/message-queue.ts"
import { tellSystemMessage } from "./before-tool.ts"
import type { AgentCore } from "./core.ts"

/** The hooks at the two ends of a turn. */
export class TurnHooks {
  readonly #core: AgentCore
  readonly #signal: AbortSignal
  #stopHookRuns = 0

  constructor(core: AgentCore, signal: AbortSignal) {
    this.#core = core
    this.#signal = signal
  }

  /** Why a hook does not let the turn begin; undefined lets it go on. */
  async beforePrompt(messages: readonly QueuedMessage[]): Promise<string | undefined> {
    const core = this.#core
    const prompt = messages.map(({ text }) => text).join("\n")
    const call = {
      event: "UserPromptSubmit",
      input: { prompt },
      signal: this.#signal,
      base: { omitEffort: true },
    }
    const outcomes = await core.hooks.run(core, call)
    for (const { output } of outcomes) tellSystemMessage(core, "UserPromptSubmit", output)
    const blocking = outcomes.find(({ output }) => output["decision"] === "block" || output["continue"] === false)
    if (blocking === undefined) return undefined
    return textOf(blocking.output, "reason") ?? textOf(blocking.output, "stopReason") ?? ""
  }

  /** Returns the result's text. */
  tellBlocked(messages: readonly QueuedMessage[], reason: string): string {
    const core = this.#core
    if (core.profile.generation !== 325) return ""
    const prompt = messages.map(({ text }) => text).join("\n")
    const content = `UserPromptSubmit operation blocked by hook:\n${reason}\n\nOriginal prompt: ${prompt}`
    const outcome = { kind: "blocked_by_hook", prompt_kept: false, reason }
    const fields = { content, level: "warning", prevent_continuation: true, prompt_submit_outcome: outcome }
    core.wire.system("informational", fields, "uuid")
    return content
  }

  /** Why a hook does not want the turn to end; undefined lets it. */
  async beforeStop(lastMessage: string): Promise<string | undefined> {
    const core = this.#core
    const { generation } = core.profile
    const input = {
      stop_hook_active: this.#stopHookRuns++ > 0,
      ...(generation >= 120 ? { last_assistant_message: lastMessage } : {}),
      ...(generation === 325 ? { background_tasks: core.tasks.list(), session_crons: [] } : {}),
    }
    const outcomes = await core.hooks.run(core, { event: "Stop", input, signal: this.#signal })
    for (const { output } of outcomes) tellSystemMessage(core, "Stop", output)
    const blocking = outcomes.find(({ output }) => output["decision"] === "block")
    if (blocking === undefined || this.#signal.aborted) return undefined
    return `Stop hook feedback:\n${textOf(blocking.output, "reason") ?? ""}`
  }

  notifyOfStop(): void {
    const { wire, profile } = this.#core
    if (profile.generation === 37) return
    const isNewest = profile.generation === 325
    const text = isNewest ? "Stop hook error occurred · ctrl+o to see" : "Stop hook error occurred"
    const fields = { key: "stop-hook-error", text, priority: "immediate" }
    wire.system("notification", fields, isNewest ? "session_id" : "uuid")
  }
}
