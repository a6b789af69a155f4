import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"

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

/** Whether the rule speaks of this call. */
export function matchesRule(rule: Rule, toolName: string, input: Readonly<Fields>): boolean {
  if (rule.toolName !== toolName && !isWholeServer(rule.toolName, toolName)) return false
  if (rule.ruleContent === undefined) return true
  if (toolName === "Bash") return matchesCommand(rule.ruleContent, textOf(input, "command") ?? "")
  if (toolName === "WebFetch") return rule.ruleContent === `domain:${hostOf(textOf(input, "url") ?? "")}`
  return matchesPath(rule.ruleContent, textOf(input, "file_path") ?? textOf(input, "path") ?? "")
}

/** `mcp__files` and `mcp__files__*` stand for every tool of the server. */
function isWholeServer(ruleName: string, toolName: string): boolean {
  if (!ruleName.startsWith("mcp__")) return false
  return toolName.startsWith(`${ruleName.replace(/__\*$/, "")}__`)
}

function matchesCommand(content: string, command: string): boolean {
  const prefix = content.endsWith(":*")
    ? content.slice(0, -2)
    : content.endsWith(" *")
      ? content.slice(0, -2)
      : undefined
  if (prefix !== undefined) return command === prefix || command.startsWith(`${prefix} `)
  return content.includes("*") ? globPattern(content).test(command) : content === command
}

function matchesPath(content: string, path: string): boolean {
  const pattern = content.startsWith("//") ? content.slice(1) : content
  return globPattern(pattern).test(path) || globPattern(`**/${pattern}`).test(path)
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
