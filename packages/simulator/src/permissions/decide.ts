import { textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import { bashQuestion } from "./bash-question.ts"
import { editQuestion, readQuestion } from "./edit-question.ts"
import { findRule, type PermissionState, type SourcedRule } from "./permission-state.ts"
import { type Call, commandPrefix, EDITS, hostOf } from "./rules.ts"

/** What the rules and the mode say of a call, before anyone is asked. */
export type Decision =
  /** `source`: who had it allowed, where that was the user in this session. */
  | { behavior: "allow"; reasonType?: string; source?: string }
  | { behavior: "deny"; reasonType: string; message: string }
  | ({ behavior: "ask" } & Question)

export interface Question {
  readonly suggestions?: readonly Fields[]
  readonly blockedPath?: string
  readonly reason?: { readonly text: string; readonly type: string }
  readonly reasonType?: string
  readonly description?: string
  readonly policyAskOnly?: boolean
  readonly needsUser?: boolean
}

/** Tools that only look, or only keep the agent's own books. */
const HARMLESS = new Set(
  "Read Glob Grep LS TodoWrite Task Agent TaskOutput TaskStop BashOutput KillShell Skill ToolSearch EnterPlanMode StructuredOutput ListAgents NotebookRead TaskCreate TaskUpdate TaskList TaskGet ListMcpResourcesTool ReadMcpResourceTool ReadMcpResourceDirTool".split(
    " ",
  ),
)
const NEEDS_USER = new Set(["AskUserQuestion", "ExitPlanMode"])

export function decide(state: PermissionState, call: Call): Decision {
  const { toolName, input } = call
  const forbidden = findRule(state, "deny", call)
  if (forbidden !== undefined) return denied(call, forbidden)
  if (NEEDS_USER.has(toolName)) return { behavior: "ask", needsUser: true }
  const mustAsk = findRule(state, "ask", call) !== undefined
  if (!mustAsk && state.mode === "bypassPermissions") return { behavior: "allow", reasonType: "mode" }
  const rule = mustAsk ? undefined : findRule(state, "allow", call)
  const isSweeping = rule !== undefined && (rule.ruleContent === undefined || toolName === "Skill")
  if (rule !== undefined && isSweeping) return { behavior: "allow", ...ruleReason(rule, "rule") }
  const question = questionOf(state, call)
  if (question === undefined && !mustAsk) return { behavior: "allow", ...harmlessReason(call) }
  // The oldest generation looks at where a command writes before it looks at rules for commands.
  const isHeld = call.quirks.holdsWrites && question?.blockedPath !== undefined
  if (rule !== undefined && !isHeld) return { behavior: "allow", ...ruleReason(rule, reasonTypeOf(call, rule)) }
  if (state.mode === "dontAsk") return { behavior: "deny", reasonType: "mode", message: dontAskMessage(call) }
  const words = textOf(input, "command")
  return { behavior: "ask", ...(question ?? (words === undefined ? {} : { description: words })) }
}

function ruleReason(rule: SourcedRule, reasonType: string): { reasonType: string; source?: string } {
  const source = RULED_BY.get(rule.source)
  return source === undefined ? { reasonType } : { reasonType, source }
}

/** Whose word a rule is, by where it stands. */
const RULED_BY = new Map([
  ["session", "user_temporary"],
  ["userSettings", "user_permanent"],
  ["localSettings", "user_permanent"],
])

/** A rule for exactly this command is the reason itself; of any other, what it made of the parts. */
function reasonTypeOf({ toolName, input }: Call, { ruleContent }: SourcedRule): string {
  const command = toolName === "Bash" ? textOf(input, "command") : undefined
  if (command === undefined || ruleContent === undefined) return "rule"
  return (commandPrefix(ruleContent) ?? ruleContent) === command ? "rule" : "subcommandResults"
}

function harmlessReason({ toolName }: Call): { reasonType?: string } {
  if (toolName === "Bash") return { reasonType: "subcommandResults" }
  return EDITS.has(toolName) || toolName === "Read" ? { reasonType: "mode" } : {}
}

/** What would be asked; undefined where nothing has to be. */
function questionOf(state: PermissionState, call: Call): Question | undefined {
  const { toolName } = call
  if (toolName === "Bash") return bashQuestion(state, call)
  if (EDITS.has(toolName)) return editQuestion(state, call)
  if (toolName === "Read") return readQuestion(state, call)
  if (HARMLESS.has(toolName)) return undefined
  if (toolName === "WebFetch") return fetchQuestion(call)
  const rules = [{ toolName }]
  return {
    suggestions: [{ type: "addRules", rules, behavior: "allow", destination: "localSettings" }],
    ...(toolName.startsWith("mcp__") ? { policyAskOnly: true } : {}),
  }
}

function fetchQuestion({ input }: Call): Question {
  const url = textOf(input, "url") ?? ""
  const rules = [{ toolName: "WebFetch", ruleContent: `domain:${hostOf(url)}` }]
  return {
    description: url,
    suggestions: [{ type: "addRules", destination: "localSettings", rules, behavior: "allow" }],
  }
}

function denied(call: Call, rule: SourcedRule): Decision {
  const { toolName, input } = call
  const command = textOf(input, "command")
  const what = toolName === "Bash" && command !== undefined ? `Bash with command ${command}` : toolName
  return {
    behavior: "deny",
    reasonType: reasonTypeOf(call, rule),
    message: `Permission to use ${what} has been denied.`,
  }
}

function dontAskMessage({ toolName, quirks }: Call): string {
  const because = quirks.explainsDontAsk ? " because Claude Code is running in don't ask mode" : ""
  return `Permission to use ${toolName} has been denied${because}.`
}
