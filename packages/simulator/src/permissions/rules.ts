import { relative, resolve } from "node:path"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields, Quirks } from "../profiles/profile.ts"

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

/** What stands before the `:*` or ` *` of a rule that ends in one. */
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

export function hostOf(url: string): string {
  try {
    return new URL(url).hostname
  } catch {
    return url
  }
}
