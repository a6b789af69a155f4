import { isObject, type PermissionUpdate, textOf } from "@signalbox/protocol"
import { readPattern } from "./command-pattern.ts"
import { hasTooManyStars, hasUnseen, MAX_PATTERN_CHARS } from "./matching.ts"
import type { Rule, RuleEffect } from "./schemas.ts"
import { isPersonal } from "./subject.ts"

export interface GrantOptions {
  /** The ids of the rules begin with it. */
  readonly id: string
  readonly session: string
  /** The folder that the paths of the CLI's rules are relative to. */
  readonly cwd?: string | undefined
  readonly reason?: string
}

type Part = Pick<Rule, "tool" | "input">

/** The CLI holds a rule for one of these against all of its family. */
const FAMILIES: Readonly<Record<string, readonly (readonly [tool: string, field: string])[]>> = {
  Edit: [
    ["Edit", "file_path"],
    ["MultiEdit", "file_path"],
    ["Write", "file_path"],
    ["NotebookEdit", "notebook_path"],
  ],
  Read: [
    ["Read", "file_path"],
    ["Glob", "path"],
    ["Grep", "path"],
    ["LS", "path"],
  ],
  Write: [["Write", "file_path"]],
  MultiEdit: [["MultiEdit", "file_path"]],
  NotebookEdit: [["NotebookEdit", "notebook_path"]],
}

/**
 * "Always allow" for this session, as rules of ours. Undefined when a part of it cannot be said in them: then all of it is
 * the CLI's business, because half a permission is not what the person gave.
 */
export function rulesFromUpdate(update: PermissionUpdate, options: GrantOptions): Rule[] | undefined {
  if (!isObject(update) || update["type"] !== "addRules" || update["destination"] !== "session") return undefined
  const effect = effectOf(update["behavior"])
  const rules: unknown = update["rules"]
  if (effect === undefined || !Array.isArray(rules) || rules.length === 0) return undefined
  const parts: Part[] = []
  for (const rule of rules) {
    const translated = partsOfRule(rule, effect, { cwd: options.cwd })
    if (translated === undefined) return undefined
    parts.push(...translated)
  }
  const { id, session, reason } = options
  return parts.map((part, index) => ({
    id: parts.length === 1 ? id : `${id}.${index + 1}`,
    effect,
    ...part,
    session,
    ...(reason === undefined ? {} : { reason }),
  }))
}

function effectOf(behavior: unknown): RuleEffect | undefined {
  return behavior === "allow" || behavior === "deny" || behavior === "ask" ? behavior : undefined
}

interface PathPlace {
  /** The folder that paths are relative to. */
  readonly cwd?: string | undefined
  /**
   * From settings, which no CLI will read: a deny or an ask is looked for, and taken wider where it cannot be said as it is.
   * Otherwise it is left to the CLI, which does so itself.
   */
  readonly isImported?: boolean
}

/** A rule of the CLI as parts of ours, or undefined if it cannot be said in them. */
export function partsOfRule(rule: unknown, effect: RuleEffect, where: PathPlace): Part[] | undefined {
  const name = textOf(rule, "toolName")
  if (name === undefined || name === "" || hasUnseen(name)) return undefined
  if (effect === "allow" && isPersonal({ tool: name, input: {} })) return undefined
  const content = isObject(rule) ? rule["ruleContent"] : undefined
  if (content === undefined || content === null) return wholeTool(name, effect, where)
  if (typeof content !== "string" || !isPattern(content)) return undefined
  if (name === "Bash") return bashRule(content, effect)
  if (name === "WebFetch") return webRule(content, effect)
  return fileRules(familyOf(name) ?? [], pathOf(content, effect, where))
}

/** A tool may have the name of something that every object has. */
function familyOf(name: string) {
  return Object.hasOwn(FAMILIES, name) ? FAMILIES[name] : undefined
}

/** Not longer than a pattern may be, with some room for the folder in front of it. */
function isPattern(content: string): boolean {
  return content !== "" && content.length <= MAX_PATTERN_CHARS / 2 && !hasUnseen(content) && !hasTooManyStars(content)
}

function wholeTool(name: string, effect: RuleEffect, { isImported }: PathPlace): Part[] | undefined {
  const family = familyOf(name)
  if (family !== undefined) return family.map(([tool]) => ({ tool }))
  // The CLI writes `mcp__server` for all tools of a server.
  if (/^mcp__(?:(?!__)[^*])+$/.test(name)) return [{ tool: `${name}__*` }]
  const names = isImported && effect !== "allow" ? /^mcp__[^*]*\*$/ : /^mcp__[^*]+__\*$/
  return name.includes("*") && !names.test(name) ? undefined : [{ tool: name }]
}

/** `npm test:*` is the CLI's way of writing "begins with these words". */
function bashRule(content: string, effect: RuleEffect): Part[] | undefined {
  const start = content.endsWith(":*") ? content.slice(0, -2) : undefined
  const patterns = start === undefined ? [content] : [start, `${start} *`]
  const isUsable = effect !== "allow" || patterns.every((pattern) => readPattern(pattern).ok)
  return isUsable && start !== "" ? [{ tool: "Bash", input: { command: patterns } }] : undefined
}

/** Only to allow: a host can be written in more ways than a pattern would find. */
function webRule(content: string, effect: RuleEffect): Part[] | undefined {
  const host = /^domain:([a-z0-9.-]+)$/i.exec(content)?.[1]
  if (host === undefined || effect !== "allow") return undefined
  const url = ["https", "http"].flatMap((scheme) => [`${scheme}://${host}`, `${scheme}://${host}/*`])
  return [{ tool: "WebFetch", input: { url } }]
}

function fileRules(family: readonly (readonly [string, string])[], path: string | undefined): Part[] | undefined {
  if (path === undefined || family.length === 0) return undefined
  return family.map(([tool, field]) => ({ tool, input: { [field]: path } }))
}

/**
 * The CLI's paths: `//x` from the root, `/x` from the settings' folder, `./x` and `x` from the session's folder, `~/x` from
 * home. It reads them as git reads what to ignore: a folder is all that is in it, and a name without a folder is found at any
 * depth. An allow is taken as narrow as it is written, a deny or an ask as wide as it is read.
 */
function pathOf(content: string, effect: RuleEffect, { cwd, isImported = false }: PathPlace): string | undefined {
  const isHere = content.startsWith("./")
  const given = (isHere ? content.slice(2) : content).replace(/(?<=.)\/$/, "")
  const isWide = isImported && effect !== "allow"
  // Patterns that the CLI knows and we do not. A star is wider than each of them.
  const path = isWide ? given.replace(/\?|\[[^\]/]*\]|\{[^}/]*\}/g, "*") : given
  if (/[?[\]{}!\\]/.test(path) || path.split("/").includes("..")) return undefined
  if (path.startsWith("//")) return wide(path.slice(1), effect)
  const root = cwd === undefined || !cwd.startsWith("/") || /[*\\]/.test(cwd) ? undefined : cwd.replace(/\/+$/, "")
  if (path.startsWith("/") && root !== undefined) return wide(`${root}${path}`, effect)
  if (/^[/~]/.test(path)) {
    // Nobody knows that folder here, so it may be any. Stars alone would then be everything.
    const behind = /^~?\/(.*[^*/].*)$/.exec(path)?.[1]
    return isWide && behind !== undefined ? wide(`**/${behind}`, effect) : undefined
  }
  const folder = root ?? (isImported ? "." : undefined)
  if (folder === undefined || (effect !== "allow" && !isImported)) return undefined
  const isName = effect !== "allow" && !isHere && !path.includes("/")
  return wide(isName ? `${folder}/**/${path}` : `${folder}/${path}`, effect)
}

function wide(path: string, effect: RuleEffect): string {
  return effect === "allow" || path.endsWith("/**") ? path : `${path.replace(/\/+$/, "")}/**`
}
