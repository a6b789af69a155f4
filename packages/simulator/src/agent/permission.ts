import { resolve } from "node:path"
import { defined, fieldOf, isObject, parseObject, textOf } from "@signalbox/protocol/envelope"
import { isRead, writeRules } from "../launch/launch.ts"
import { displayName } from "../mcp/servers.ts"
import { readCommand } from "../permissions/bash-command.ts"
import { decide, type Question } from "../permissions/decide.ts"
import { applyUpdates } from "../permissions/rules.ts"
import type { AskFacts, Fields } from "../profiles/profile.ts"
import type { HostAnswer } from "../wire/host-requests.ts"
import type { AgentCore } from "./core.ts"
import type { CallScope, ToolUse } from "./tool-call.ts"

/** Whether a tool may run, and what the result says of how that was decided. */
export type Permission =
  | { behavior: "allow"; input: Readonly<Fields>; meta?: Fields }
  /** `isBare`: the tool's own form of the result is the message itself, without the word that it is an error. */
  | { behavior: "deny"; message: string; meta?: Fields; isCounted: boolean; isBare?: boolean }
  /** The host denied it and wants the turn to stop, or broke off while it was asked. */
  | { behavior: "stop"; message: string; reason: "denied" | "aborted" }

/** The wish of a PreToolUse hook: ask all the same, with its reason. */
export interface HookWish {
  readonly ask?: { readonly reason: string }
}

export async function permit(core: AgentCore, scope: CallScope, use: ToolUse, wish: HookWish): Promise<Permission> {
  const { quirks } = core.profile
  const call = { toolName: use.ruleName, input: use.input, cwd: core.launch.cwd, quirks }
  const decision = decide(core.state.permissions, call)
  if (decision.behavior === "deny") {
    const { reasonType, message } = decision
    announceDenial(core, use, { decision_reason_type: reasonType, message })
    return { behavior: "deny", message, meta: rejected("config", reasonType), isCounted: true }
  }
  // The oldest generation does not ask, whatever a hook wishes, for what it would allow.
  if (decision.behavior === "allow" && (wish.ask === undefined || !quirks.hookMayAsk)) {
    return { behavior: "allow", input: use.input, meta: accepted(decision.source ?? "config", decision.reasonType) }
  }
  const question = decision.behavior === "ask" ? decision : {}
  return askSomebody(core, scope, use, askFacts(core, scope, use, question, wish))
}

function announceDenial({ profile, wire }: AgentCore, { name, id }: ToolUse, why: Fields): void {
  if (profile.quirks.announcesDenials)
    wire.system("permission_denied", { tool_name: name, tool_use_id: id, ...why }, "uuid")
}

/** Nobody is there to ask: what needs a permission does not get it. */
function denyUnasked(core: AgentCore, use: ToolUse): Permission {
  const message = unaskedWords(core, use)
  announceDenial(core, use, { message })
  const meta = { ...rejected("config"), non_execution_kind: "user-rejected" }
  return { behavior: "deny", message, meta, isCounted: true }
}

function unaskedWords(core: AgentCore, { name, input }: ToolUse): string {
  const { cwd } = core.launch
  const path = textOf(input, "file_path")
  const verb = name === "Read" ? "read from" : "write to"
  if (path !== undefined) {
    const shown = core.profile.quirks.wholePaths ? resolve(cwd, path) : path
    return `Claude requested permissions to ${verb} ${shown}, but you haven't granted it yet.`
  }
  if (name !== "Bash") return `Claude requested permissions to use ${name}, but you haven't granted it yet.`
  const command = textOf(input, "command") ?? ""
  const { writes } = readCommand(command, cwd)
  if (writes === undefined) return "This command requires approval"
  const [tool = ""] = command.trim().split(/\s+/)
  if (!core.profile.quirks.explainsUnasked) {
    const deed = tool.startsWith("rm") ? "remove files from" : "create or modify files in"
    return `${tool} in '${writes}' was blocked. For security, Claude Code may only ${deed} the allowed working directories for this session: '${cwd}'.`
  }
  const folder = `the working directories for this session ('${cwd}')`
  return `${tool} in '${writes}' needs approval. The path is inside ${folder}, and Claude Code asks before a shell command creates, changes or removes files there.`
}

function askFacts(core: AgentCore, scope: CallScope, use: ToolUse, question: Question, wish: HookWish): AskFacts {
  const target = core.mcp.find(use.name)
  const byHook = wish.ask !== undefined
  // A hook that wants it asked takes the suggestions away with the reason, but on the oldest generation.
  const keeps = !byHook || !core.profile.quirks.hookHidesSuggestions
  const reason = byHook
    ? { text: wish.ask?.reason ?? "", type: "hook", hookEvent: "PreToolUse" }
    : (question.reason ??
      (question.reasonType === undefined ? undefined : { text: undefined, type: question.reasonType }))
  return {
    toolName: use.ruleName,
    toolUseId: use.id,
    input: core.toolbox.shownInput({ core, input: use.input, name: use.name }),
    displayName: target === undefined ? use.ruleName : displayName(target.tool),
    description: question.description,
    suggestions: keeps ? question.suggestions : undefined,
    blockedPath: keeps ? question.blockedPath : undefined,
    reason,
    mcpServer: target && { name: target.server, source: core.mcp.sourceOf(target.server) },
    policyAskOnly: keeps ? question.policyAskOnly : undefined,
    needsUser: question.needsUser,
    agentId: scope.agentId,
  }
}

/** The oldest generation asks its hooks first; the newer ones ask both at once, and the first answer counts. */
async function askSomebody(core: AgentCore, scope: CallScope, use: ToolUse, facts: AskFacts): Promise<Permission> {
  // No rule is offered for keeping where nobody is there to ask.
  const isHeard = core.launch.asksHost || core.profile.quirks.offersRulesToNobody
  const suggestions = isHeard ? facts.suggestions : facts.suggestions?.filter(({ type }) => type !== "addRules")
  const hookCall = {
    event: "PermissionRequest",
    subject: use.ruleName,
    input: {
      tool_name: use.ruleName,
      tool_input: use.input,
      ...(suggestions === undefined ? {} : { permission_suggestions: suggestions }),
    },
    toolUseId: use.id,
  }
  const { asksHost, permissionPromptTool } = core.launch
  const { asksHooksBesideHost } = core.profile.quirks
  const isAsked = asksHost && permissionPromptTool === undefined
  // The oldest generation asks its hooks only where the host could be asked too.
  const hooksFirst = asksHooksBesideHost ? !isAsked : isAsked
  if (core.hooks.has("PermissionRequest") && hooksFirst) {
    const decided = hookDecision(core, use, await core.hooks.run(core, { ...hookCall, signal: scope.signal }))
    if (decided !== undefined) return decided
  }
  if (permissionPromptTool !== undefined) return askTool(core, scope, use, permissionPromptTool)
  if (!asksHost) return denyUnasked(core, use)
  if (!core.hooks.has("PermissionRequest") || !asksHooksBesideHost) return ask(core, scope, use, facts, scope.signal)
  const over = new AbortController()
  const signal = AbortSignal.any([scope.signal, over.signal])
  const asked = ask(core, scope, use, facts, signal)
  const hooked = core.hooks.run(core, hookCall).then((outcomes) => hookDecision(core, use, outcomes) ?? asked)
  const first = await Promise.race([asked, hooked])
  over.abort()
  return first
}

function hookDecision(
  core: AgentCore,
  use: ToolUse,
  outcomes: readonly { output: Readonly<Fields> }[],
): Permission | undefined {
  for (const { output } of outcomes) {
    const decision = fieldOf(fieldOf(output, "hookSpecificOutput"), "decision")
    if (decision !== undefined) return readDecision(core, use, decision, "hook")
  }
  return undefined
}

/** An MCP tool answers for the host, in text. */
async function askTool(core: AgentCore, scope: CallScope, use: ToolUse, name: string): Promise<Permission> {
  const target = core.mcp.find(name)
  if (target === undefined) return failed(`Error: MCP tool ${name} (passed via --permission-prompt-tool) not found`)
  const input = { tool_name: use.ruleName, input: use.input, tool_use_id: use.id }
  const called = await core.mcp.call({ ...target, input, toolUseId: use.id }, scope.signal)
  if ("failed" in called) return failed(`Error: ${called.failed}`)
  // Prose is no decision.
  const answer = parseObject(called.content.map((block) => textOf(block, "text") ?? "").join(""))
  return answer === undefined ? invalid(core) : readDecision(core, use, answer, "host")
}

async function ask(
  core: AgentCore,
  scope: CallScope,
  use: ToolUse,
  facts: AskFacts,
  signal: AbortSignal,
): Promise<Permission> {
  const { tellsStateBeforeAsking } = core.profile.quirks
  if (tellsStateBeforeAsking) core.wire.tellState("requires_action")
  const asked = core.host.ask(core.profile.shapes.ask(facts), { signal })
  if (!tellsStateBeforeAsking) core.wire.tellState("requires_action")
  const answer = await asked
  if (!scope.signal.aborted) core.wire.tellState("running")
  return readAnswer(core, use, answer)
}

/** A question that nobody was there to hear. */
const GONE: Permission = {
  behavior: "deny",
  message:
    "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed.",
  meta: { non_execution_kind: "cancelled" },
  isCounted: false,
  isBare: true,
}

function readAnswer(core: AgentCore, use: ToolUse, answer: HostAnswer): Permission {
  const { forgivesGoneHost } = core.profile.quirks
  switch (answer.kind) {
    case "success":
      return isObject(answer.payload) ? readDecision(core, use, answer.payload, "host") : invalid(core)
    case "error":
      return failed(`Error: ${answer.error}`)
    case "malformed":
      return invalid(core)
    case "gone":
      return forgivesGoneHost ? GONE : failed("Error: Stream closed")
    case "closed":
      return failed(
        `${forgivesGoneHost ? "AbortError" : "Error"}: Tool permission stream closed before response received`,
      )
    case "aborted":
    case "timed-out":
      return { behavior: "stop", message: "Tool permission request failed: AbortError", reason: "aborted" }
  }
}

function readDecision(core: AgentCore, use: ToolUse, decision: Readonly<Fields>, from: "host" | "hook"): Permission {
  const source = from === "hook" ? "hook" : undefined
  if (decision["behavior"] === "allow") {
    const updated = decision["updatedInput"]
    if (!isObject(updated) && from === "host" && core.profile.quirks.allowNeedsInput) return invalid(core)
    if (updated !== undefined && !isObject(updated)) return invalid(core)
    update(core, decision["updatedPermissions"])
    const by = source ?? textOf(decision, "decisionClassification") ?? "user_temporary"
    const meta = accepted(by, source)
    return { behavior: "allow", input: changedInput(core, use, updated), meta }
  }
  if (decision["behavior"] !== "deny") return invalid(core)
  const message = textOf(decision, "message")
  if (message === undefined && from === "host") return invalid(core)
  if (decision["interrupt"] === true) return { behavior: "stop", message: message ?? "", reason: "denied" }
  const meta = rejected(source ?? "user_reject", source)
  return { behavior: "deny", message: message ?? "Permission denied by hook", meta, isCounted: true }
}

/** An input sent back as it was shown is the input as it was; a path that was shown whole is the path as it was. */
function changedInput(core: AgentCore, use: ToolUse, updated: unknown): Readonly<Fields> {
  const shown = core.toolbox.shownInput({ core, input: use.input, name: use.name })
  if (!isObject(updated) || JSON.stringify(updated) === JSON.stringify(shown)) return use.input
  const isSameFile = textOf(updated, "file_path") !== undefined && updated["file_path"] === shown["file_path"]
  return isSameFile ? { ...updated, file_path: use.input["file_path"] } : updated
}

/** Rules for settings files that this session does not read are kept nowhere. */
function update(core: AgentCore, updates: unknown): void {
  const isActive = (destination: string) => core.profile.quirks.keepsUnreadRules || isRead(core.launch, destination)
  for (const each of Array.isArray(updates) ? updates.filter(isObject) : []) {
    if (isActive(textOf(each, "destination") ?? "session")) writeRules(core.launch, core.toolbox.files, each)
  }
  const before = core.state.permissions.mode
  core.state.permissions = applyUpdates(core.state.permissions, updates, isActive)
  const { mode } = core.state.permissions
  if (mode !== before) core.wire.system("status", { status: null, permissionMode: mode }, "uuid")
}

function failed(what: string): Permission {
  return broken(`Tool permission request failed: ${what}`)
}

function broken(message: string): Permission {
  return { behavior: "deny", message, meta: rejected("config", "other"), isCounted: true }
}

function invalid(core: AgentCore): Permission {
  return core.profile.quirks.explainsInvalidAnswers
    ? broken(
        "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', updatedInput?: object} or {behavior: 'deny', message: string}. updatedPermissions may hold at most 4096 updates, rules and directories in all.",
      )
    : failed('ZodError: [\n  {\n    "code": "invalid_union"\n  }\n]')
}

function accepted(source: string, reasonType?: string): Fields {
  return { permission_decision: decided("accept", source, reasonType) }
}

export function rejected(source: string, reasonType?: string): Fields {
  return { non_execution_kind: "permission-rule", permission_decision: decided("reject", source, reasonType) }
}

function decided(decision: "accept" | "reject", source: string, reason_type: string | undefined): Fields {
  return { decision, source, ...defined({ reason_type }) }
}
