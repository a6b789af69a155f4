import { basename, relative, resolve } from "node:path"
import { textOf } from "@signalbox/protocol/envelope"
import { hostOf } from "../json.ts"
import type { Fields, Quirks } from "../profiles/profile.ts"
import {
  type CommandReading,
  changedPath,
  changingFind,
  commandParts,
  hidesCommands,
  isInside,
  isReadOnlyPart,
  lookedAt,
  readCommand,
  rulePrefix,
} from "./bash-command.ts"
import {
  type Call,
  commandPrefix,
  EDITS,
  findRule,
  type PermissionState,
  type Rule,
  type SourcedRule,
} from "./rules.ts"

/** The verdict of the rules and the mode on a call, before anyone is asked. */
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

/** The source that a rule is told with, by where it stands. */
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

/** The question about a call; undefined where nothing has to be asked. */
function questionOf(state: PermissionState, call: Call): Question | undefined {
  const { toolName } = call
  if (toolName === "Bash") return bashQuestion(state, call)
  if (EDITS.has(toolName)) return editQuestion(state, call)
  if (toolName === "Read") return readQuestion(state, call)
  if (HARMLESS.has(toolName)) return undefined
  if (toolName === "WebFetch") return fetchQuestion(call)
  return {
    suggestions: [allowing([{ toolName }])],
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
  const message = `Permission to use ${what} has been denied.`
  return { behavior: "deny", reasonType: reasonTypeOf(call, rule), message }
}

function dontAskMessage({ toolName, quirks }: Call): string {
  const because = quirks.explainsDontAsk ? " because Claude Code is running in don't ask mode" : ""
  return `Permission to use ${toolName} has been denied${because}.`
}

const NEEDS_APPROVAL = { text: "This command requires approval", type: "other" }
const CHANGES_FOLDER =
  "This command changes directory before running a version-control command, which can pick up untrusted hooks or " +
  "repository configuration from the target directory. Approve only if you trust it."

/** The question about a command; undefined where nothing has to be asked. */
function bashQuestion(state: PermissionState, call: Call): Question | undefined {
  const { input, cwd, quirks } = call
  const command = textOf(input, "command") ?? ""
  const reading = readCommand(command, cwd)
  const description = textOf(input, "description") ?? command
  if (reading.isReadOnly) return quirks.asksAboutLooks ? lookQuestion(state, call, reading, description) : undefined
  if (reading.changesOwnFiles && state.mode === "acceptEdits") return undefined
  const doubt = DOUBTS[quirks.commandDoubts](reading)
  if (doubt !== undefined) return { description, ...doubt }
  const isCompound = reading.parts.length > 1
  const { writes, redirects } = reading
  if (isCompound && !(quirks.ruleForRedirects && redirects))
    return compoundQuestion(state, call, reading.parts, description)
  if (writes !== undefined && (reading.changesOwnFiles || redirects)) {
    const folder = isInside(writes, cwd) ? cwd : resolve(writes, "..")
    const directories = { type: "addDirectories", directories: [folder], destination: "session" }
    const rules = quirks.ruleForRedirects
      ? [allowing([bashRule(isCompound ? command : rulePrefix(firstPart(command)))])]
      : []
    return {
      description,
      suggestions: [...rules, directories, ...(redirects ? [] : [ACCEPT_EDITS])],
      blockedPath: writes,
    }
  }
  const suggestions = [allowing([bashRule(quirks.prefixRules ? rulePrefix(firstPart(command)) : command)])]
  return { description, suggestions, reason: NEEDS_APPROVAL }
}

/** The newest asks about a look at what lies outside of the session's folders. */
function lookQuestion(
  state: PermissionState,
  { cwd, quirks }: Call,
  { parts }: CommandReading,
  description: string,
): Question | undefined {
  const [part = ""] = parts
  const found = parts.length === 1 ? lookedAt(part, cwd, [cwd, ...state.directories]) : undefined
  if (found === undefined) return undefined
  const read = { toolName: "Read", ruleContent: `/${found.folder}/**` }
  if (findRule(state, "allow", { toolName: "Read", input: { file_path: found.path }, cwd, quirks }) !== undefined)
    return undefined
  const suggestions = [allowing([bashRule(part)]), allowing([read], "session")]
  return { description, suggestions, blockedPath: found.path }
}

type Doubt = Pick<Question, "reason" | "suggestions"> | undefined

/** Why no rule would allow a command. */
const DOUBTS: Readonly<Record<Quirks["commandDoubts"], (reading: CommandReading) => Doubt>> = {
  old: oldDoubtOf,
  none: () => undefined,
  new: newDoubtOf,
}

/** Commands that the newest lets no rule allow. */
function newDoubtOf({ parts }: CommandReading): Doubt {
  const cd = parts.findIndex((part) => part.startsWith("cd "))
  if (cd !== -1 && parts.slice(cd).some((part) => part.startsWith("git "))) {
    return { reason: { text: CHANGES_FOLDER, type: "other" } }
  }
  const find = parts.flatMap((part) => changingFind(part) ?? [])[0]
  if (parts.length !== 1 || (find === undefined && !parts.some(hidesCommands))) return undefined
  const text =
    find === undefined
      ? "A nested command in this command can't be checked before it runs"
      : `find with '${find}' executes commands or modifies files — cannot be auto-allowed by a Bash(find:*) prefix rule`
  return { reason: { text, type: "other" }, suggestions: [] }
}

/** The doubts of the oldest about a command that it does not look into. */
function oldDoubtOf({ parts, redirects }: CommandReading): Doubt {
  const redirection = "Command contains output redirection (>) which could write to arbitrary files"
  const substitution = "Command contains $() command substitution"
  if (parts.length > 1 && redirects) return { reason: { text: redirection, type: "other" } }
  return parts.some((part) => part.includes("$(")) ? { reason: { text: substitution, type: "other" } } : undefined
}

/** Several commands in one: each generation has its own way to say what would have to be allowed. */
function compoundQuestion(state: PermissionState, call: Call, parts: readonly string[], description: string): Question {
  const { prefixRules, rulesForPipes } = call.quirks
  const isAllowed = (part: string) =>
    isReadOnlyPart(part) || findRule(state, "allow", { ...call, input: { command: part } }) !== undefined
  const asked = parts.filter((part) => !isAllowed(part))
  // The oldest suggests no rule for what only changes files by name, and one for just this command.
  const ruled = prefixRules ? asked : asked.filter((part) => changedPath(part) === undefined)
  const rules = ruled.map((part) => bashRule(prefixRules ? rulePrefix(part) : part))
  // Piped commands are allowed piece by piece, the rest as a whole.
  const isPiped = rulesForPipes && isPipe(textOf(call.input, "command") ?? "")
  const groups = isPiped ? rules.map((rule) => [rule]) : rules.length === 0 ? [] : [rules]
  const suggestions = groups.map((group) => allowing(group))
  return { description, suggestions, ...(prefixRules ? { reasonType: "subcommandResults" } : {}) }
}

function isPipe(command: string): boolean {
  const others = command.replaceAll("||", ";")
  return commandParts(others).length > commandParts(others.replaceAll("|", " ")).length
}

function allowing(rules: readonly Rule[], destination = "localSettings"): Fields {
  return { type: "addRules", rules, behavior: "allow", destination }
}

function bashRule(ruleContent: string): Rule {
  return { toolName: "Bash", ruleContent }
}

function firstPart(command: string): string {
  return command.replace(/\s*>{1,2}.*$/s, "")
}

const ACCEPT_EDITS: Fields = { type: "setMode", mode: "acceptEdits", destination: "session" }
const OUTSIDE = { text: "Path is outside allowed working directories", type: "workingDir" }

/** Files that others run, or that say what an agent may do: the newest asks about them in every mode. */
const SENSITIVE_FOLDERS = new Set([".git", ".vscode", ".idea", ".husky"])
const SENSITIVE_FILES = new Set(
  ".gitconfig .gitmodules .bashrc .bash_profile .zshrc .zprofile .profile .ripgreprc .mcp.json .claude.json".split(" "),
)

/** The question about a change to a file; undefined where nothing has to be asked. */
function editQuestion(state: PermissionState, call: Call): Question | undefined {
  const { input, cwd, quirks } = call
  const path = resolve(cwd, textOf(input, "file_path") ?? textOf(input, "notebook_path") ?? "")
  const inside = [cwd, ...state.directories].some((folder) => isInside(path, folder))
  const description = isInside(path, cwd) ? relative(cwd, path) : path
  const mode = state.mode === "acceptEdits" ? [] : [ACCEPT_EDITS]
  const danger = quirks.guardsFiles ? dangerOf(path, cwd) : undefined
  if (danger !== undefined && state.mode !== "plan") {
    const reason = { text: danger, type: "safetyCheck" }
    return { description, suggestions: [...mode, ...skillRule(path, cwd)], reason }
  }
  if (state.mode === "acceptEdits" && inside) return undefined
  if (state.mode === "plan" && quirks.asksInPlanMode) return { description, reasonType: "mode" }
  if (inside) return { description, suggestions: [ACCEPT_EDITS], policyAskOnly: true }
  const directories = { type: "addDirectories", directories: [resolve(path, "..")], destination: "session" }
  return { description, suggestions: [...mode, directories], reason: OUTSIDE, policyAskOnly: true }
}

/** Files outside of the folders of this session are not read unasked. */
function readQuestion(state: PermissionState, { input, cwd }: Call): Question | undefined {
  const path = resolve(cwd, textOf(input, "file_path") ?? "")
  if ([cwd, ...state.directories].some((folder) => isInside(path, folder))) return undefined
  const suggestions = [allowing([{ toolName: "Read", ruleContent: `/${resolve(path, "..")}/**` }], "session")]
  return { description: path, suggestions, reason: OUTSIDE, policyAskOnly: true }
}

interface FileDenial {
  readonly message: string
  /** The rule is in the user's own settings. */
  readonly isUsers: boolean
}

/** Why a file may not be touched at all: told before anyone is asked. */
export function fileDenial(state: PermissionState, call: Call): FileDenial | undefined {
  const isEdit = EDITS.has(call.toolName)
  if (!isEdit && call.toolName !== "Read") return undefined
  const own = findRule(state, "deny", call)
  const unreadable =
    isEdit && call.quirks.guardsFiles ? findRule(state, "deny", { ...call, toolName: "Read" }) : undefined
  const rule = own ?? unreadable
  if (rule?.ruleContent === undefined) return undefined
  const message =
    own === undefined
      ? "File is covered by a Read deny rule in your permission settings and cannot be edited."
      : "File is in a directory that is denied by your permission settings."
  return { message, isUsers: rule.source === "userSettings" || rule.source === "localSettings" }
}

function dangerOf(path: string, cwd: string): string | undefined {
  const folders = relative(cwd, path).split("/").slice(0, -1)
  if (folders.some((folder) => SENSITIVE_FOLDERS.has(folder)) || SENSITIVE_FILES.has(basename(path))) {
    return `Claude requested permissions to edit ${path} which is a sensitive file.`
  }
  if (folders[0] !== ".claude") return undefined
  return `Claude requested permissions to write to ${path}, but you haven't granted it yet.`
}

/** A skill may be worked on as a whole. */
function skillRule(path: string, cwd: string): Fields[] {
  const skill = /^\.claude\/skills\/[^/]+/.exec(relative(cwd, path))?.[0]
  return skill === undefined ? [] : [allowing([{ toolName: "Edit", ruleContent: `/${skill}/**` }], "session")]
}
