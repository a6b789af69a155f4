import { relative, resolve } from "node:path"
import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { hostOf, objectsIn, textsIn } from "../json.ts"
import type { Fields, Quirks } from "../profiles/profile.ts"
import { commandParts, hidesCommands, isReadOnlyPart, withoutVariables } from "./bash-command.ts"

/** `Bash(npm test:*)` as the wire writes it in permission updates. */
export interface Rule {
  readonly toolName: string
  readonly ruleContent?: string
}

/** `Bash`, `Bash(npm test:*)`, `mcp__server`. */
export function parseRule(text: string): Rule {
  const match = /^([^(]+)\(([\s\S]*)\)$/.exec(text.trim())
  if (match === null) return { toolName: text.trim() }
  const [, toolName = "", ruleContent = ""] = match
  return ruleContent === "" || ruleContent === "*" ? { toolName } : { toolName, ruleContent }
}

export function showRule({ toolName, ruleContent }: Rule): string {
  return ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`
}

export function readRule(value: unknown): Rule | undefined {
  const toolName = textOf(value, "toolName")
  const ruleContent = textOf(value, "ruleContent")
  if (!isObject(value) || toolName === undefined) return undefined
  return ruleContent === undefined ? { toolName } : { toolName, ruleContent }
}

export interface Call {
  readonly toolName: string
  readonly input: Readonly<Fields>
  readonly cwd: string
  readonly quirks: Quirks
}

export const EDITS: ReadonlySet<string> = new Set(["Edit", "Write", "MultiEdit", "NotebookEdit"])

/** Whether the rule speaks of this call. Of a command: of this one command, whatever is strung together with it. */
export function matchesRule(rule: Rule, { toolName, input, cwd }: Call): boolean {
  if (!namesTool(rule, toolName)) return false
  if (rule.ruleContent === undefined) return true
  if (toolName === "Bash") return matchesCommand(rule.ruleContent, textOf(input, "command") ?? "")
  if (toolName === "WebFetch") return rule.ruleContent === `domain:${hostOf(textOf(input, "url") ?? "")}`
  if (toolName === "Skill") return rule.ruleContent === textOf(input, "skill")
  const path = textOf(input, "file_path") ?? textOf(input, "notebook_path") ?? textOf(input, "path") ?? ""
  return matchesPath(rule.ruleContent, resolve(cwd, path), cwd)
}

/** `Edit(src/**)` speaks of whatever changes files. */
function namesTool({ toolName: named, ruleContent }: Rule, toolName: string): boolean {
  if (named === toolName || isWholeServer(named, toolName)) return true
  return named === "Edit" && ruleContent !== undefined && EDITS.has(toolName)
}

/** `mcp__files` and `mcp__files__*` stand for every tool of the server. */
function isWholeServer(ruleName: string, toolName: string): boolean {
  if (!ruleName.startsWith("mcp__")) return false
  return toolName.startsWith(`${ruleName.replace(/__\*$/, "")}__`)
}

/** The text before the `:*` or ` *` of a rule that ends in one. */
export function commandPrefix(content: string): string | undefined {
  return content.endsWith(":*") || content.endsWith(" *") ? content.slice(0, -2) : undefined
}

function matchesCommand(content: string, command: string): boolean {
  const prefix = commandPrefix(content)
  if (prefix !== undefined) return command === prefix || command.startsWith(`${prefix} `)
  return content.includes("*") ? globPattern(content).test(command) : content === command
}

/**
 * `//x` is a path of the machine; `/x`, `./x` and whatever has a slash inside begins in the agent's folder; a bare name
 * may be anywhere below it. A folder stands for all that is in it.
 */
function matchesPath(content: string, path: string, cwd: string): boolean {
  const isWhole = content.startsWith("//")
  const below = relative(cwd, path)
  if (!isWhole && (below === "" || below.startsWith(".."))) return false
  const plain = content.replace(/^\.?\/+/, "").replace(/\/$/, "")
  const pattern = isWhole ? `/${plain}` : content.slice(0, -1).includes("/") ? plain : `**/${plain}`
  const subject = isWhole ? path : below
  return globPattern(pattern).test(subject) || globPattern(`${pattern}/**`).test(subject)
}

export function globPattern(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("**/", "\0")
    .replaceAll("**", "\u0001")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]")
    .replaceAll("\0", "(?:.*/)?")
    .replaceAll("\u0001", ".*")
  return new RegExp(`^${source}$`, "s")
}

export const BEHAVIORS = ["allow", "deny", "ask"] as const
type Behavior = (typeof BEHAVIORS)[number]

/** The rules and the mode, which decide without asking. Moved only by `applyUpdates` and `setMode`. */
export interface PermissionState {
  readonly mode: string
  /** The mode that leaving plan mode goes back to. */
  readonly modeBeforePlan: string
  readonly rules: Readonly<Record<Behavior, readonly SourcedRule[]>>
  readonly directories: readonly string[]
}

export interface SourcedRule extends Rule {
  readonly source: string
}

export function initialPermissions(options: {
  mode: string
  allowed: readonly string[]
  disallowed: readonly string[]
  directories: readonly string[]
  settings: readonly { source: string; settings: Readonly<Fields> }[]
  /** Whether what a settings file of the project allows is allowed. */
  trustsProject: boolean
}): PermissionState {
  const fromArguments = (texts: readonly string[]) => texts.map((text) => ({ ...parseRule(text), source: "cliArg" }))
  const fromSettings = (key: string) =>
    options.settings.flatMap(({ source, settings }) =>
      textsIn(fieldOf(settings, "permissions")?.[key]).map((text) => ({ ...parseRule(text), source })),
    )
  return {
    mode: options.mode,
    modeBeforePlan: options.mode === "plan" ? "default" : options.mode,
    rules: {
      allow: [
        ...fromArguments(options.allowed),
        ...fromSettings("allow").filter(({ source }) => options.trustsProject || source !== "projectSettings"),
      ],
      deny: [...fromArguments(options.disallowed), ...fromSettings("deny")],
      ask: fromSettings("ask"),
    },
    directories: options.directories,
  }
}

export function setMode(state: PermissionState, mode: string): PermissionState {
  const modeBeforePlan = mode === "plan" && state.mode !== "plan" ? state.mode : state.modeBeforePlan
  return { ...state, mode, modeBeforePlan }
}

/** The first rule that speaks of the call. */
export function findRule(state: PermissionState, behavior: Behavior, call: Call): SourcedRule | undefined {
  const rules = state.rules[behavior]
  const command = call.toolName === "Bash" ? textOf(call.input, "command") : undefined
  if (command === undefined) return rules.find((rule) => matchesRule(rule, call))
  const ruleFor = (part: string) => rules.find((rule) => matchesRule(rule, { ...call, input: { command: part } }))
  const sweeping = rules.find((rule) => rule.toolName === "Bash" && (rule.ruleContent ?? command) === command)
  if (sweeping !== undefined || behavior === "allow") return sweeping ?? ruleForAll(command, ruleFor)
  const parts = commandParts(command)
  // The oldest does not look behind variables that are set for a command.
  const bare = call.quirks.looksBehindVariables ? parts.map(withoutVariables) : []
  // One forbidden command is enough to forbid all that are strung together.
  return [command, ...parts, ...bare].map(ruleFor).find((rule) => rule !== undefined)
}

/** Every one of them must be allowed, or only look. */
function ruleForAll(command: string, ruleFor: (part: string) => SourcedRule | undefined): SourcedRule | undefined {
  const parts = commandParts(command).filter((part) => !isReadOnlyPart(part))
  if (parts.some(hidesCommands)) return undefined
  const found = parts.map(ruleFor)
  return found.includes(undefined) ? undefined : found[0]
}

/** The state after what a host sent in `updatedPermissions`. What makes no sense changes nothing. */
export function applyUpdates(
  state: PermissionState,
  updates: unknown,
  isActive: (destination: string) => boolean = () => true,
): PermissionState {
  if (!Array.isArray(updates)) return state
  return updates
    .filter(isObject)
    .filter((update) => isActive(textOf(update, "destination") ?? "session"))
    .reduce<PermissionState>(applyUpdate, state)
}

function applyUpdate(state: PermissionState, update: Readonly<Fields>): PermissionState {
  switch (update["type"]) {
    case "setMode":
      return setMode(state, textOf(update, "mode") ?? state.mode)
    case "addDirectories":
      return { ...state, directories: [...new Set([...state.directories, ...textsIn(update["directories"])])] }
    case "removeDirectories": {
      const removed = textsIn(update["directories"])
      return { ...state, directories: state.directories.filter((directory) => !removed.includes(directory)) }
    }
    case "addRules":
    case "replaceRules":
    case "removeRules":
      return { ...state, rules: changeRules(state.rules, update) }
    default:
      return state
  }
}

function changeRules(rules: PermissionState["rules"], update: Readonly<Fields>): PermissionState["rules"] {
  const behavior = BEHAVIORS.find((each) => each === update["behavior"])
  if (behavior === undefined) return rules
  const source = textOf(update, "destination") ?? "session"
  const named = objectsIn(update["rules"]).flatMap((rule) => readRule(rule) ?? [])
  const sourced = named.map((rule) => ({ ...rule, source }))
  const isNamed = (rule: SourcedRule) =>
    named.some((other) => showRule(rule) === showRule(other)) && rule.source === source
  const before = rules[behavior]
  const kept = update["type"] === "replaceRules" ? before.filter((rule) => rule.source !== source) : before
  const without = kept.filter((rule) => !isNamed(rule))
  return { ...rules, [behavior]: update["type"] === "removeRules" ? without : [...without, ...sourced] }
}
