import { isObject } from "@signalbox/protocol"
import { hasTooManyStars, hasUnseen, MAX_PATTERN_CHARS } from "./matching.ts"
import type { Rule, RuleEffect } from "./schemas.ts"
import { partsOfRule } from "./session-grant.ts"

/** What became of one entry of the settings. */
export interface ImportedEntry {
  /** As it stands in the settings: `Bash(npm test:*)`. */
  readonly entry: string
  readonly effect: RuleEffect
  /** The rules that it became. None: it could not be taken. */
  readonly rules: readonly string[]
  /** Why it could not be taken, or how it does less or more than it seems to: sentences. */
  readonly notes: readonly string[]
}

export interface ImportedSettings {
  readonly rules: readonly Rule[]
  readonly entries: readonly ImportedEntry[]
  /** Settings beside the entries that have no counterpart here. */
  readonly notes: readonly string[]
}

interface ImportOptions {
  /** The project whose settings they are: its rules hold only there. Without one they are a person's own. */
  readonly cwd?: string
  /** Ids of the rules begin with it. */
  readonly id?: string
}

const EFFECTS: readonly RuleEffect[] = ["deny", "ask", "allow"]
const MAX_ENTRIES = 1000
/** Half of what a pattern may have: the other half is for the path behind it. */
const MAX_FOLDER_CHARS = 512
/** A policy has no more. */
const MAX_RULES = 1000
const MAX_TOOL_CHARS = 256
/** Of an entry that is no text. */
const MAX_SHOWN_CHARS = 200

/** Reads the permissions of Claude Code's `settings.json`. Looks nothing up, and takes only what can be said in rules. */
export function importSettings(json: unknown, { cwd, id = "imported" }: ImportOptions = {}): ImportedSettings {
  const permissions = isObject(json) ? json["permissions"] : undefined
  if (!isObject(permissions)) return { rules: [], entries: [], notes: ["The settings have no permissions."] }
  const rules: Rule[] = []
  const entries: ImportedEntry[] = []
  const notes = notesOf(permissions)
  for (const effect of EFFECTS) {
    const list = permissions[effect] ?? []
    if (!Array.isArray(list)) {
      notes.push(`permissions.${effect} is not a list, and was left out.`)
      continue
    }
    if (list.length > MAX_ENTRIES) {
      notes.push(
        `permissions.${effect} has ${list.length} entries; those after the first ${MAX_ENTRIES} were left out.`,
      )
    }
    for (const entry of list.slice(0, MAX_ENTRIES)) {
      const taken = importEntry(entry, { effect, cwd, id, number: entries.length + 1 })
      rules.push(...taken.rules)
      entries.push({ ...taken, rules: taken.rules.map((rule) => rule.id) })
    }
  }
  if (rules.length > MAX_RULES) {
    notes.push(
      `These are ${rules.length} rules, and a policy has at most ${MAX_RULES}: remove some before you use them.`,
    )
  }
  return { rules, entries, notes }
}

interface EntryOptions {
  readonly effect: RuleEffect
  readonly cwd: string | undefined
  readonly id: string
  readonly number: number
}

type Taken = Omit<ImportedEntry, "rules"> & { readonly rules: readonly Rule[] }

function importEntry(value: unknown, { effect, cwd, id, number }: EntryOptions): Taken {
  const entry = typeof value === "string" ? value : shown(value)
  const [, toolName, ruleContent] = /^([^()\s]+)(?:\((.*)\))?$/s.exec(entry) ?? []
  if (typeof value !== "string" || toolName === undefined) {
    return { entry, effect, rules: [], notes: ["This is no permission rule."] }
  }
  const notes = seemings(toolName, ruleContent, effect)
  if (cwd !== undefined && !isFolder(cwd)) {
    return { entry, effect, rules: [], notes: ["The project's folder cannot be said in a rule, so it was left out."] }
  }
  const rule = ruleContent === undefined ? { toolName } : { toolName, ruleContent }
  const parts = partsOfRule(rule, effect, { cwd, findsNames: true })
  if (parts === undefined || !parts.every(isSayable)) {
    return { entry, effect, rules: [], notes: [`This cannot be said in rules here, so it was left out.`, ...notes] }
  }
  const rules = parts.map((part, index) => ({
    id: parts.length === 1 ? `${id}-${number}` : `${id}-${number}.${index + 1}`,
    effect,
    ...part,
    ...(cwd === undefined ? {} : { cwd: `${cwd.replace(/\/+$/, "")}/**` }),
    reason: `Imported from settings.json: ${entry}`.slice(0, 1000),
  }))
  return { entry, effect, rules, notes }
}

function shown(value: unknown): string {
  try {
    return JSON.stringify(value).slice(0, MAX_SHOWN_CHARS)
  } catch {
    return "a value that is nested too deep"
  }
}

/** With its folder, a pattern may have become more than a rule can hold. */
function isSayable({ tool = "", input = {} }: Pick<Rule, "tool" | "input">): boolean {
  const patterns = Object.values(input).flat()
  const isPattern = (text: string) => text.length <= MAX_PATTERN_CHARS && !hasTooManyStars(text)
  return tool.length <= MAX_TOOL_CHARS && patterns.every(isPattern)
}

/** A folder that a rule's `cwd` can name. */
function isFolder(cwd: string): boolean {
  const isPlain = !/[*\\]/.test(cwd) && !cwd.split("/").includes("..") && !hasUnseen(cwd)
  return cwd.startsWith("/") && isPlain && cwd.length < MAX_FOLDER_CHARS
}

/** Entries that do something else than most people think. */
function seemings(tool: string, content: string | undefined, effect: RuleEffect): string[] {
  const notes: string[] = []
  const glued = tool === "Bash" ? /^(.*[^\s:*])\*$/.exec(content ?? "")?.[1] : undefined
  if (glued !== undefined) {
    const program = glued.split(" ").at(-1) ?? glued
    const example = program === "ls" ? "lsof" : `${program}x`
    notes.push(`${tool}(${content}) also matches "${example}": write "${glued}" and "${glued} *" to mean the word.`)
  }
  if (content !== undefined && ["Write", "MultiEdit", "NotebookEdit"].includes(tool)) {
    notes.push(
      `Claude Code compares paths with Edit(…) only: ${tool}(${content}) does nothing there. Here it holds for ${tool}.`,
    )
  }
  if ((tool === "Read" || tool === "Edit") && /^\/[^/]/.test(content ?? "")) {
    notes.push(
      `${tool}(${content}) begins at the settings' folder, not at the root: that would be ${tool}(/${content}).`,
    )
  }
  if (/^mcp__?[^*]*\*/.test(tool) && !/^mcp__[^*]+__\*$/.test(tool)) {
    notes.push(`${tool} matches no tool in Claude Code: it knows mcp__SERVER and mcp__SERVER__TOOL.`)
  }
  if (tool === "Read" && effect === "deny") {
    notes.push("A command such as cat can still read the file: deny that too.")
  }
  return notes
}

function notesOf(permissions: Readonly<Record<string, unknown>>): string[] {
  const known = new Set<string>(EFFECTS)
  return Object.keys(permissions)
    .filter((name) => !known.has(name))
    .slice(0, 20)
    .map((name) => `permissions.${name.slice(0, 64)} has no counterpart here, and was left out.`)
}
