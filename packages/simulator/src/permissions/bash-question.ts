import { resolve } from "node:path"
import { textOf } from "@signalbox/protocol/envelope"
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
import type { Question } from "./decide.ts"
import { ACCEPT_EDITS } from "./edit-question.ts"
import { findRule, type PermissionState } from "./permission-state.ts"
import type { Call } from "./rules.ts"

const NEEDS_APPROVAL = { text: "This command requires approval", type: "other" }
const CHANGES_FOLDER =
  "This command changes directory before running a version-control command, which can pick up untrusted hooks or " +
  "repository configuration from the target directory. Approve only if you trust it."

/** What would be asked about a command; undefined where nothing has to be. */
export function bashQuestion(state: PermissionState, call: Call): Question | undefined {
  const { input, cwd, quirks } = call
  const command = textOf(input, "command") ?? ""
  const reading = readCommand(command, cwd)
  const description = textOf(input, "description") ?? command
  if (reading.isReadOnly) return quirks.asksAboutLooks ? lookQuestion(state, call, reading, description) : undefined
  if (reading.changesOwnFiles && state.mode === "acceptEdits") return undefined
  const doubt = doubtOf(reading, quirks)
  if (doubt !== undefined) return { description, ...doubt }
  const isCompound = reading.parts.length > 1
  const { writes, redirects } = reading
  if (isCompound && !(quirks.ruleForRedirects && redirects))
    return compoundQuestion(state, call, reading.parts, description)
  if (writes !== undefined && (reading.changesOwnFiles || redirects)) {
    const directories = { type: "addDirectories", directories: [parentFolder(writes, cwd)], destination: "session" }
    const rules = quirks.ruleForRedirects ? [allowing(isCompound ? command : rulePrefix(firstPart(command)))] : []
    return {
      description,
      suggestions: [...rules, directories, ...(redirects ? [] : [ACCEPT_EDITS])],
      blockedPath: writes,
    }
  }
  const suggestions = [allowing(quirks.prefixRules ? rulePrefix(firstPart(command)) : command)]
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
  const reading = { type: "addRules", rules: [read], behavior: "allow", destination: "session" }
  return { description, suggestions: [allowing(part), reading], blockedPath: found.path }
}

/** Why no rule would allow a command. */
function doubtOf(
  reading: CommandReading,
  { commandDoubts }: Quirks,
): Pick<Question, "reason" | "suggestions"> | undefined {
  if (commandDoubts === "old") return oldDoubtOf(reading)
  return commandDoubts === "new" ? newDoubtOf(reading.parts) : undefined
}

/** What the newest will not have allowed by a rule. */
function newDoubtOf(parts: readonly string[]): Pick<Question, "reason" | "suggestions"> | undefined {
  const cd = parts.findIndex((part) => part.startsWith("cd "))
  if (cd !== -1 && parts.slice(cd).some((part) => part.startsWith("git "))) {
    return { reason: { text: CHANGES_FOLDER, type: "other" } }
  }
  const find = parts.flatMap((part) => changingFind(part) ?? [])[0]
  if (find !== undefined && parts.length === 1) {
    const text = `find with '${find}' executes commands or modifies files — cannot be auto-allowed by a Bash(find:*) prefix rule`
    return { reason: { text, type: "other" }, suggestions: [] }
  }
  if (parts.length !== 1 || !parts.some(hidesCommands)) return undefined
  const text = "A nested command in this command can't be checked before it runs"
  return { reason: { text, type: "other" }, suggestions: [] }
}

/** What the oldest tells of a command that it does not look into. */
function oldDoubtOf({ parts, redirects }: CommandReading): Pick<Question, "reason"> | undefined {
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
  const rules = ruled.map((part) => ({ toolName: "Bash", ruleContent: prefixRules ? rulePrefix(part) : part }))
  // What is piped is allowed piece by piece, the rest as a whole.
  const isPiped = rulesForPipes && isPipe(textOf(call.input, "command") ?? "")
  const groups = isPiped ? rules.map((rule) => [rule]) : rules.length === 0 ? [] : [rules]
  const suggestions = groups.map((group) => ({ ...allowing(""), rules: group }))
  return { description, suggestions, ...(prefixRules ? { reasonType: "subcommandResults" } : {}) }
}

function isPipe(command: string): boolean {
  const others = command.replaceAll("||", ";")
  return commandParts(others).length > commandParts(others.replaceAll("|", " ")).length
}

function allowing(ruleContent: string): Fields {
  const rules = [{ toolName: "Bash", ruleContent }]
  return { type: "addRules", rules, behavior: "allow", destination: "localSettings" }
}

function firstPart(command: string): string {
  return command.replace(/\s*>{1,2}.*$/s, "")
}

function parentFolder(path: string, cwd: string): string {
  return isInside(path, cwd) ? cwd : resolve(path, "..")
}
