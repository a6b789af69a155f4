import type { PermissionDenial } from "@signalbox/protocol"
import { fieldOf, textOf } from "@signalbox/protocol/envelope"
import { fileDenial } from "../permissions/decide.ts"
import type { Fields } from "../profiles/profile.ts"
import { mcpOutcome } from "../tools/own-tools.ts"
import { callFailure, type ToolOutcome, type ToolRun, toolFailure } from "../tools/toolbox.ts"
import { type AgentCore, isDisabled, rememberMessage, toolsOf } from "./core.ts"
import type { Spoken } from "./failures.ts"
import { beforeTool, tellSystemMessage } from "./hook-verdicts.ts"
import { permit } from "./permission.ts"

export interface ToolUse {
  readonly id: string
  readonly name: string
  /** Its name in hooks and permission requests. */
  readonly ruleName: string
  readonly input: Readonly<Fields>
}

/** The place of a call: in the turn, or in a sub-agent of it. */
export interface CallScope {
  readonly signal: AbortSignal
  readonly parent: string | null
  readonly agentId?: string
  readonly extra: Fields
  readonly denials: PermissionDenial[]
}

export interface CallEnd {
  /** The result as the model gets it. */
  readonly block: Fields
  /** `interrupted`: the turn is over. `hook`: a hook wants it to stop after this. */
  readonly stop?: "interrupted" | "hook"
  readonly ok: boolean
  /** The model was told something besides, in a message of its own. */
  readonly saidMore?: boolean
}

const REJECTED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the " +
  "new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."

export function toolUsesOf(spoken: Spoken): { id: string; name: string; input: Readonly<Fields> }[] {
  return spoken.content
    .filter((block) => block["type"] === "tool_use")
    .map((block) => ({
      id: textOf(block, "id") ?? "",
      name: textOf(block, "name") ?? "",
      input: fieldOf(block, "input") ?? {},
    }))
}

/** A tool call from its hooks to its result, which is said. */
export async function callTool(core: AgentCore, scope: CallScope, asked: Omit<ToolUse, "ruleName">): Promise<CallEnd> {
  const isAgent = asked.name === "Task" && core.profile.quirks.callsTaskAgent
  const use = { ...asked, ruleName: isAgent ? "Agent" : asked.name }
  if (scope.signal.aborted) return stopped(core, scope, use, "aborted before")
  const forbidden = forbiddenFile(core, use)
  if (forbidden !== undefined) {
    if (core.profile.quirks.countsForbiddenFiles) deny(core, scope, use)
    return say(core, scope, use, callFailure(forbidden.message), forbidden.meta)
  }
  const wrong = wrongCall(core, scope, use)
  if (wrong !== undefined) return say(core, scope, use, wrong)
  const hooked = await beforeTool(core, scope, use)
  if (scope.signal.aborted) return stopped(core, scope, use, "aborted")
  if (hooked.denied !== undefined) {
    if (core.profile.quirks.hookDenialsCount && !hooked.denied.isUncounted) deny(core, scope, use)
    return say(core, scope, use, toolFailure(hooked.denied.message), hooked.denied.meta)
  }
  const changed = { ...use, input: hooked.input ?? use.input }
  const permission = hooked.allowed ?? (await permit(core, scope, changed, hooked.wish))
  if (permission.behavior === "stop") {
    deny(core, scope, use)
    return stopped(core, scope, use, permission.reason, permission.message)
  }
  if (permission.behavior === "deny") {
    if (permission.isCounted) deny(core, scope, changed)
    const failure = toolFailure(permission.message)
    const outcome = permission.isBare === true ? { ...failure, structured: permission.message } : failure
    return say(core, scope, use, outcome, permission.meta)
  }
  const end = await runAllowed(core, scope, { ...changed, input: permission.input }, permission.meta)
  return hooked.stops && end.stop === undefined ? { ...end, stop: "hook" } : end
}

/** A file that the settings forbid is told of before any hook is called. */
function forbiddenFile(
  { state, launch, profile }: AgentCore,
  { name, input }: ToolUse,
): { message: string; meta: Fields } | undefined {
  const call = { toolName: name, input, cwd: launch.cwd, quirks: profile.quirks }
  const denial = fileDenial(state.permissions, call)
  if (denial === undefined) return undefined
  const source = denial.isUsers ? "user_reject" : "config"
  return { message: denial.message, meta: { permission_decision: { decision: "reject", source, reason_type: "rule" } } }
}

function deny(core: AgentCore, { denials }: CallScope, { name, id, input }: ToolUse): void {
  denials.push({ tool_name: name, tool_use_id: id, tool_input: core.toolbox.wholeInput({ core, name, input }) })
}

/** A tool that is not there, or a call that cannot be read. */
function wrongCall(core: AgentCore, scope: CallScope, use: ToolUse): ToolOutcome | undefined {
  const step = core.model.stepOf?.(use.id)
  const known = [...toolsOf(core), ...(core.profile.quirks.callsTaskAgent ? ["Agent"] : [])]
  if (!known.includes(use.name) && step?.result === undefined) {
    const message = `Error: No such tool available: ${use.name}${insteadOf(core, use.name)}`
    return callFailure(message, message)
  }
  if (use.name === "Bash" && textOf(use.input, "command") === undefined) return invalidBash(use)
  const problem = core.toolbox.tools.check(toolRun(core, scope, use))
  return problem === undefined ? undefined : callFailure(problem)
}

const INSTEAD: Readonly<Record<string, string>> = {
  Glob: "Glob is not available in this session — find files with `find` via the Bash tool instead.",
  Grep: "Grep is not available in this session — search file contents with `grep` via the Bash tool instead.",
}

function insteadOf(core: AgentCore, name: string): string {
  if (!core.profile.quirks.hintsAtOtherTools) return ""
  const hint = isDisabled(core, name) ? undefined : INSTEAD[name]
  if (hint !== undefined) return `. ${hint}`
  const isKnown = name === "TodoWrite" || core.profile.catalog.tools.includes(name)
  return isKnown ? `. ${name} is disabled for this session, in subagents as well as here.` : ""
}

function invalidBash({ input }: ToolUse): ToolOutcome {
  const unexpected = Object.keys(input).map((name) => `An unexpected parameter \`${name}\` was provided`)
  const issues = ["The required parameter `command` is missing", ...unexpected]
  const heading = `Bash failed due to the following issue${issues.length === 1 ? "" : "s"}:`
  const message = `InputValidationError: ${[heading, ...issues].join("\n")}`
  return callFailure(message, message)
}

function toolRun(core: AgentCore, scope: CallScope, use: ToolUse): ToolRun {
  const { name, input, id } = use
  const step = core.model.stepOf?.(id)
  return { core, name, input, toolUseId: id, signal: scope.signal, step, parent: scope.parent }
}

async function runAllowed(core: AgentCore, scope: CallScope, use: ToolUse, meta: Fields | undefined): Promise<CallEnd> {
  const startedAt = core.clock.now()
  const outcome = await runTool(core, scope, use)
  if (scope.signal.aborted && !outcome.isDone) return stopped(core, scope, use, "running")
  const durationMs = Math.max(1, core.clock.now() - startedAt)
  const outputs = await afterTool(core, scope, use, outcome.outcome, durationMs)
  const updated = outputs
    .map((output) => fieldOf(output, "hookSpecificOutput")?.["updatedMCPToolOutput"])
    .findLast((value) => value !== undefined)
  const final =
    updated === undefined
      ? outcome.outcome
      : { ...outcome.outcome, content: Array.isArray(updated) ? updated : textOfContent(updated) }
  outcome.outcome.before?.()
  const end = say(core, scope, use, final, meta)
  const saidMore = final.says !== undefined
  if (final.says !== undefined) saySynthetic(core, scope, final.says)
  await outcome.outcome.after?.()
  return { ...end, saidMore, ...(outputs.some((output) => output["continue"] === false) ? { stop: "hook" } : {}) }
}

async function runTool(
  core: AgentCore,
  scope: CallScope,
  use: ToolUse,
): Promise<{ outcome: ToolOutcome; isDone: boolean }> {
  const target = core.mcp.find(use.name)
  if (target === undefined) {
    const outcome = await core.toolbox.tools.run(toolRun(core, scope, use))
    return { outcome, isDone: !scope.signal.aborted }
  }
  const called = await core.mcp.call({ ...target, input: use.input, toolUseId: use.id }, scope.signal)
  const isDone = !scope.signal.aborted
  if ("failed" in called) return { outcome: toolFailure(called.failed), isDone }
  return { outcome: mcpOutcome(core, called, { server: target.server, name: use.name }), isDone }
}

async function afterTool(
  core: AgentCore,
  scope: CallScope,
  use: ToolUse,
  outcome: ToolOutcome,
  durationMs: number,
): Promise<Readonly<Fields>[]> {
  const failed = outcome.isError === true
  const event = failed ? "PostToolUseFailure" : "PostToolUse"
  const duration = core.profile.quirks.hooksSeeDurations ? { duration_ms: durationMs } : {}
  const whole = core.toolbox.wholeInput({ core, name: use.name, input: use.input })
  const call = { tool_name: use.ruleName, tool_input: whole }
  const input = failed
    ? { ...call, tool_use_id: use.id, error: textOfContent(outcome.content), is_interrupt: false, ...duration }
    : { ...call, tool_response: outcome.structured, tool_use_id: use.id, ...duration }
  const hook = { event, subject: use.ruleName, input, toolUseId: use.id, signal: scope.signal }
  const outcomes = await core.hooks.run(core, hook)
  for (const { output } of outcomes) tellSystemMessage(core, `${event}:${use.ruleName}`, output)
  return outcomes.map(({ output }) => output)
}

function textOfContent(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content)
}

function say(core: AgentCore, scope: CallScope, use: ToolUse, outcome: ToolOutcome, meta?: Fields): CallEnd {
  const block = resultBlock(use.id, outcome)
  const results = meta === undefined ? {} : { tool_result_meta: [{ id: use.id, ...meta }] }
  const message = { role: "user", content: [block] }
  const said = core.wire.user(
    message,
    // A sub-agent's results come without the tool's own form of them.
    { ...(scope.parent === null ? { tool_use_result: outcome.structured } : {}), ...results, ...scope.extra },
    scope.parent,
  )
  if (scope.parent === null) rememberMessage(core, message, said, { toolUseResult: outcome.structured })
  return { block, ok: outcome.isError !== true }
}

function saySynthetic(core: AgentCore, { parent, extra }: CallScope, text: string): void {
  const message = { role: "user", content: [{ type: "text", text }] }
  const said = core.wire.user(message, { isSynthetic: true, ...extra }, parent)
  if (parent === null) rememberMessage(core, message, said)
}

function resultBlock(id: string, { content, isError, idLast, typeFirst }: ToolOutcome): Fields {
  if (typeFirst === true) return { type: "tool_result", tool_use_id: id, content }
  if (isError === true) return { type: "tool_result", content, is_error: true, tool_use_id: id }
  if (idLast === true) return { type: "tool_result", content, tool_use_id: id }
  return { tool_use_id: id, type: "tool_result", content, ...(isError === false ? { is_error: false } : {}) }
}

type Interruption = "denied" | "aborted" | "aborted before" | "running"

/** The turn is over; the call still gets a result, because the model must not be left with one open. */
function stopped(core: AgentCore, scope: CallScope, use: ToolUse, why: Interruption, message = ""): CallEnd {
  const { rejectsStopped } = core.profile.quirks
  const killed = "Exit code 137\n[Request interrupted by user for tool use]"
  const words = why === "running" ? killed : why === "denied" ? message : "Tool permission request failed: AbortError"
  const rejection = { content: REJECTED, isError: true, structured: "User rejected tool use" }
  const outcome = rejectsStopped || why === "aborted before" ? rejection : toolFailure(words)
  const meta = rejectsStopped ? { non_execution_kind: "user-rejected" } : undefined
  return { ...say(core, scope, use, outcome, meta), stop: "interrupted", ok: false }
}
