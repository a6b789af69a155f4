import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import type { QueuedMessage } from "../wire/message-queue.ts"
import type { AgentCore } from "./core.ts"
import { BY_EXIT_CODE, failureWords, type HookOutcome } from "./hooks.ts"
import { type HookWish, rejected } from "./permission.ts"
import type { CallScope, ToolUse } from "./tool-call.ts"

// Hooks before a call runs.

interface HookDenial {
  readonly message: string
  readonly meta?: Fields
  /** A hook that did not answer denies nothing, though nothing ran. */
  readonly isUncounted?: boolean
}

export interface Before {
  readonly denied?: HookDenial
  readonly allowed?: { readonly behavior: "allow"; readonly input: Readonly<Fields>; readonly meta: Fields }
  readonly input?: Readonly<Fields>
  readonly wish: HookWish
  readonly stops: boolean
}

export async function beforeTool(core: AgentCore, scope: CallScope, use: ToolUse): Promise<Before> {
  const whole = core.toolbox.wholeInput({ core, name: use.name, input: use.input })
  const input = { tool_name: use.ruleName, tool_input: whole, tool_use_id: use.id }
  const call = { event: "PreToolUse", subject: use.ruleName, input, toolUseId: use.id, signal: scope.signal }
  const outcomes = await core.hooks.run(core, call)
  for (const { output } of outcomes) tellSystemMessage(core, `PreToolUse:${use.ruleName}`, output)
  const denial = outcomes.map((outcome) => denialOf(core, use, outcome)).find((found) => found !== undefined)
  const stops = outcomes.some(({ output }) => output["continue"] === false)
  if (denial !== undefined) return { denied: denial, wish: {}, stops }
  const specific = outcomes.map(({ output }) => output["hookSpecificOutput"]).filter(isObject)
  const updated = specific.map((fields) => fields["updatedInput"]).findLast(isObject)
  const changed = updated === undefined ? {} : { input: updated }
  const asking = specific.find((fields) => fields["permissionDecision"] === "ask")
  if (asking !== undefined) {
    const wish = { ask: { reason: textOf(asking, "permissionDecisionReason") ?? "" } }
    return { ...changed, wish, stops }
  }
  const approves = specific.some((fields) => fields["permissionDecision"] === "allow")
  if (!approves && !outcomes.some(({ output }) => output["decision"] === "approve"))
    return { ...changed, wish: {}, stops }
  const meta = { permission_decision: { decision: "accept", source: "hook", reason_type: "hook" } }
  return { allowed: { behavior: "allow", input: updated ?? use.input, meta }, wish: {}, stops, ...changed }
}

/** The denial of a hook, in the words of this generation. */
function denialOf(core: AgentCore, use: ToolUse, outcome: HookOutcome): HookDenial | undefined {
  const { output, timedOut, failed, blocksOnFailure, callbackId } = outcome
  const meta = rejected("hook", "hook")
  if (timedOut && core.profile.quirks.hookTimeout === "block") {
    const message =
      "PreToolUse hook did not respond before its timeout (host client may be unreachable). The tool call was not " +
      "executed; other configured hooks may not have completed."
    return { message, isUncounted: true }
  }
  if (failed && blocksOnFailure) {
    const why = `[callback]: failed; blocking because onFailure is "block"\n${failureWords(callbackId)}`
    return { message: `PreToolUse:${use.ruleName} hook error: ${why}`, meta }
  }
  const specific = output["hookSpecificOutput"]
  const denies = isObject(specific) && specific["permissionDecision"] === "deny"
  if (!denies && output["decision"] !== "block") return undefined
  const reason = (denies ? textOf(specific, "permissionDecisionReason") : undefined) ?? textOf(output, "reason")
  const words = reason ?? "Blocked by hook"
  const isNamed = core.profile.quirks.namesDenyingHook || output[BY_EXIT_CODE] === true
  return { message: isNamed ? `PreToolUse:${use.ruleName} hook error: ${words}` : words, meta }
}

export function tellSystemMessage(core: AgentCore, who: string, output: Readonly<Fields>): void {
  const message = textOf(output, "systemMessage")
  // A hook that stops the turn has the last word, and says it in the result.
  if (message === undefined || !core.profile.quirks.tellsHookNews || output["continue"] === false) return
  core.wire.system("informational", { content: `${who} says: ${message}`, level: "notice" }, "uuid")
}

// The hooks at the two ends of a turn.

/** Why a hook does not let the turn begin; undefined lets it go on. */
export async function beforePrompt(
  core: AgentCore,
  messages: readonly QueuedMessage[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const prompt = messages.map(({ text }) => text).join("\n")
  const call = { event: "UserPromptSubmit", input: { prompt }, signal, base: { omitEffort: true } }
  const outcomes = await core.hooks.run(core, call)
  for (const { output } of outcomes) tellSystemMessage(core, "UserPromptSubmit", output)
  const blocking = outcomes.find(({ output }) => output["decision"] === "block" || output["continue"] === false)
  if (blocking === undefined) return undefined
  return textOf(blocking.output, "reason") ?? textOf(blocking.output, "stopReason") ?? ""
}

/** Returns the result's text. */
export function tellBlocked(core: AgentCore, messages: readonly QueuedMessage[], reason: string): string {
  if (!core.profile.quirks.tellsHookNews) return ""
  const prompt = messages.map(({ text }) => text).join("\n")
  const content = `UserPromptSubmit operation blocked by hook:\n${reason}\n\nOriginal prompt: ${prompt}`
  const outcome = { kind: "blocked_by_hook", prompt_kept: false, reason }
  const fields = { content, level: "warning", prevent_continuation: true, prompt_submit_outcome: outcome }
  core.wire.system("informational", fields, "uuid")
  return content
}

/** Why a hook does not want the turn to end; undefined lets it. `isActive`: not for the first time in this turn. */
export async function beforeStop(
  core: AgentCore,
  { lastMessage, isActive, signal }: { lastMessage: string; isActive: boolean; signal: AbortSignal },
): Promise<string | undefined> {
  const { hooksSeeLastMessage, hooksSeeTasks } = core.profile.quirks
  const input = {
    stop_hook_active: isActive,
    ...(hooksSeeLastMessage ? { last_assistant_message: lastMessage } : {}),
    ...(hooksSeeTasks ? { background_tasks: core.tasks.list(), session_crons: [] } : {}),
  }
  const outcomes = await core.hooks.run(core, { event: "Stop", input, signal })
  for (const { output } of outcomes) tellSystemMessage(core, "Stop", output)
  const blocking = outcomes.find(({ output }) => output["decision"] === "block")
  if (blocking === undefined || signal.aborted) return undefined
  return `Stop hook feedback:\n${textOf(blocking.output, "reason") ?? ""}`
}

export function notifyOfStop({ wire, profile }: AgentCore): void {
  const { stopHookNotice } = profile.quirks
  if (stopHookNotice === undefined) return
  const { text, ids } = stopHookNotice
  wire.system("notification", { key: "stop-hook-error", text, priority: "immediate" }, ids)
}
