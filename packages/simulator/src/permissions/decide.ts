import { basename, resolve } from "node:path"
import { textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import { isInside, readCommand, rulePrefix } from "./bash-command.ts"
import { findRule, type PermissionState, type SourcedRule } from "./permission-state.ts"
import { hostOf } from "./rules.ts"

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

export interface Call {
  readonly toolName: string
  readonly input: Readonly<Fields>
  readonly cwd: string
  readonly generation: 37 | 120 | 325
}

/** Tools that only look, or only keep the agent's own books. */
const HARMLESS = new Set(
  "Read Glob Grep LS TodoWrite Task Agent TaskOutput TaskStop BashOutput KillShell Skill ToolSearch EnterPlanMode StructuredOutput ListAgents NotebookRead TaskCreate TaskUpdate TaskList TaskGet ListMcpResourcesTool ReadMcpResourceTool ReadMcpResourceDirTool".split(
    " ",
  ),
)
const EDITS = new Set(["Edit", "Write", "MultiEdit", "NotebookEdit"])
const NEEDS_USER = new Set(["AskUserQuestion", "ExitPlanMode"])
const ACCEPT_EDITS = { type: "setMode", mode: "acceptEdits", destination: "session" }

export function decide(state: PermissionState, call: Call): Decision {
  const { toolName, input } = call
  if (findRule(state, "deny", toolName, input) !== undefined) return denied(call)
  if (NEEDS_USER.has(toolName)) return { behavior: "ask", needsUser: true }
  const mustAsk = findRule(state, "ask", toolName, input) !== undefined
  if (!mustAsk && state.mode === "bypassPermissions") return { behavior: "allow", reasonType: "mode" }
  const rule = mustAsk ? undefined : findRule(state, "allow", toolName, input)
  if (rule !== undefined && rule.ruleContent === undefined) return { behavior: "allow", ...ruleReason(rule, "rule") }
  const question = questionOf(state, call)
  if (question === undefined && !mustAsk) return { behavior: "allow", ...harmlessReason(call) }
  // The oldest generation looks at where a command writes before it looks at rules for commands.
  const isHeld = call.generation === 37 && question?.blockedPath !== undefined
  if (rule !== undefined && !isHeld) {
    return { behavior: "allow", ...ruleReason(rule, toolName === "Bash" ? "subcommandResults" : "rule") }
  }
  if (state.mode === "dontAsk") return { behavior: "deny", reasonType: "mode", message: dontAskMessage(call) }
  const words = textOf(input, "command")
  return { behavior: "ask", ...(question ?? (words === undefined ? {} : { description: words })) }
}

function ruleReason(rule: SourcedRule, reasonType: string): { reasonType: string; source?: string } {
  return rule.source === "session" ? { reasonType, source: "user_temporary" } : { reasonType }
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

function bashQuestion(state: PermissionState, { input, cwd, generation }: Call): Question | undefined {
  const command = textOf(input, "command") ?? ""
  const reading = readCommand(command, cwd)
  if (reading.isReadOnly) return undefined
  if (reading.changesOwnFiles && state.mode === "acceptEdits") return undefined
  const description = textOf(input, "description") ?? command
  const ruleContent = generation === 37 ? command : rulePrefix(firstPart(command))
  const rule = { type: "addRules", rules: [{ toolName: "Bash", ruleContent }], behavior: "allow" }
  const addRule = { ...rule, destination: "localSettings" }
  const { writes } = reading
  if (reading.parts.length > 1) return compoundQuestion(reading.parts, generation, description)
  if (writes !== undefined && (reading.changesOwnFiles || reading.redirects)) {
    const directories = { type: "addDirectories", directories: [parentFolder(writes, cwd)], destination: "session" }
    const mode = reading.redirects ? [] : [ACCEPT_EDITS]
    const suggestions = [...(generation === 325 ? [addRule] : []), directories, ...mode]
    return { description, suggestions, blockedPath: writes }
  }
  const reason = { text: "This command requires approval", type: "other" }
  return { description, suggestions: [addRule], reason }
}

/** Several commands in one: each generation has its own way to say what would have to be allowed. */
function compoundQuestion(parts: readonly string[], generation: 37 | 120 | 325, description: string): Question {
  if (generation === 37) return { description, suggestions: [] }
  if (generation === 325) return { description, reasonType: "subcommandResults" }
  const rules = parts.map((part) => ({ toolName: "Bash", ruleContent: rulePrefix(part) }))
  const suggestions = [{ type: "addRules", rules, behavior: "allow", destination: "localSettings" }]
  return { description, suggestions, reasonType: "subcommandResults" }
}

function firstPart(command: string): string {
  return command.replace(/\s*>{1,2}.*$/s, "")
}

function parentFolder(path: string, cwd: string): string {
  return isInside(path, cwd) ? cwd : resolve(path, "..")
}

function editQuestion(state: PermissionState, { input, cwd, generation }: Call): Question | undefined {
  const path = resolve(cwd, textOf(input, "file_path") ?? textOf(input, "notebook_path") ?? "")
  const inside = [cwd, ...state.directories].some((folder) => isInside(path, folder))
  if (state.mode === "acceptEdits" && inside) return undefined
  const description = basename(path)
  if (state.mode === "plan" && generation === 325) return { description, reasonType: "mode" }
  if (inside) return { description, suggestions: [ACCEPT_EDITS], policyAskOnly: true }
  const directories = { type: "addDirectories", directories: [resolve(path, "..")], destination: "session" }
  const reason = { text: "Path is outside allowed working directories", type: "workingDir" }
  return { description, suggestions: [ACCEPT_EDITS, directories], reason }
}

/** What lies outside of the folders of this session is not read unasked. */
function readQuestion(state: PermissionState, { input, cwd }: Call): Question | undefined {
  const path = resolve(cwd, textOf(input, "file_path") ?? "")
  if ([cwd, ...state.directories].some((folder) => isInside(path, folder))) return undefined
  const folder = resolve(path, "..")
  const rules = [{ toolName: "Read", ruleContent: `/${folder}/**` }]
  return {
    description: path,
    suggestions: [{ type: "addRules", rules, behavior: "allow", destination: "session" }],
    reason: { text: "Path is outside allowed working directories", type: "workingDir" },
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

function denied({ toolName, input }: Call): Decision {
  const command = textOf(input, "command")
  const what = toolName === "Bash" && command !== undefined ? `Bash with command ${command}` : toolName
  const reasonType = toolName === "Bash" ? "subcommandResults" : "rule"
  return { behavior: "deny", reasonType, message: `Permission to use ${what} has been denied.` }
}

function dontAskMessage({ toolName, generation }: Call): string {
  const because = generation === 37 ? "" : " because Claude Code is running in don't ask mode"
  return `Permission to use ${toolName} has been denied${because}.`
}
