import { isObject } from "@signalbox/protocol"
import { coverCommand } from "./match-rule.ts"
import { hasTooManyStars, hasUnseen, MAX_PATTERN_CHARS, Work } from "./matching.ts"
import { PATH_FIELDS } from "./path-pattern.ts"
import type { Rule, RuleEffect } from "./schemas.ts"
import { partsOfRule } from "./session-grant.ts"
import { subjectOf } from "./subject.ts"

/** The outcome for one entry of the settings. */
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
  /** How many entries that deny something became no rule: what they forbid is not forbidden here. */
  readonly deniesLeftOut: number
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
const RUNS = "what it runs must be allowed, too"
/** All tools of a server. */
const SERVER = /^mcp__[^*]+__\*$/
/** For an entry that is no text. */
const MAX_SHOWN_CHARS = 200

/** Reads the permissions of Claude Code's `settings.json`. Looks nothing up, and takes only what can be said in rules. */
export function importSettings(json: unknown, { cwd, id = "imported" }: ImportOptions = {}): ImportedSettings {
  const permissions = isObject(json) ? json["permissions"] : undefined
  if (!isObject(permissions)) {
    return { rules: [], entries: [], notes: ["The settings have no permissions."], deniesLeftOut: 0 }
  }
  const rules: Rule[] = []
  const entries: ImportedEntry[] = []
  const notes = notesOf(permissions)
  let deniesLeftOut = 0
  for (const effect of EFFECTS) {
    const list = permissions[effect] ?? []
    if (!Array.isArray(list)) {
      notes.push(`permissions.${effect} is not a list, and was left out.`)
      if (effect === "deny") deniesLeftOut++
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
    if (effect === "deny") {
      deniesLeftOut += list.length - entries.filter((each) => each.effect === effect && each.rules.length > 0).length
    }
  }
  if (rules.length > MAX_RULES) {
    notes.push(
      `These are ${rules.length} rules, and a policy has at most ${MAX_RULES}: remove some before you use them.`,
    )
  }
  return { rules, entries, notes, deniesLeftOut }
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
  if (cwd !== undefined && !isFolder(cwd)) {
    return { entry, effect, rules: [], notes: ["The project's folder cannot be said in a rule, so it was left out."] }
  }
  const rule = ruleContent === undefined ? { toolName } : { toolName, ruleContent }
  const parts = partsOfRule(rule, effect, { cwd, isImported: true })
  const seeming = seemings(toolName, ruleContent)
  if (parts === undefined || !parts.every(isSayable)) {
    return { entry, effect, rules: [], notes: ["This cannot be said in rules here, so it was left out.", ...seeming] }
  }
  const rules = parts.map(
    (part, index): Rule => ({
      id: parts.length === 1 ? `${id}-${number}` : `${id}-${number}.${index + 1}`,
      effect,
      ...part,
      ...(cwd === undefined ? {} : { cwd: `${cwd.replace(/\/+$/, "")}/**` }),
      reason: `Imported from settings.json: ${entry}`.slice(0, 1000),
    }),
  )
  const [first] = rules
  const notes = first === undefined ? [] : doings(first, { tool: toolName, content: ruleContent, cwd })
  return { entry, effect, rules, notes: [...seeming, ...notes] }
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

/** Entries that do something else in Claude Code than most people think. */
function seemings(tool: string, content: string | undefined): string[] {
  const notes: string[] = []
  const glued = tool === "Bash" ? /^(.*[^\s:*])\*$/.exec(content ?? "")?.[1] : undefined
  if (glued !== undefined) {
    const program = glued.split(" ").at(-1) ?? glued
    const example = program === "ls" ? "lsof" : `${program}x`
    notes.push(`${tool}(${content}) also matches "${example}": write "${glued}" and "${glued} *" to mean the word.`)
  }
  if (content !== undefined && ["Write", "MultiEdit", "NotebookEdit"].includes(tool)) {
    notes.push(`Claude Code compares paths with Edit(…) only: ${tool}(${content}) does nothing there.`)
  }
  if ((tool === "Read" || tool === "Edit") && /^\/[^/]/.test(content ?? "")) {
    notes.push(
      `${tool}(${content}) begins at the settings' folder, not at the root: that would be ${tool}(/${content}).`,
    )
  }
  if (/^mcp__?[^*]*\*/.test(tool) && !SERVER.test(tool)) {
    notes.push(`${tool} matches no tool in Claude Code: it knows mcp__SERVER and mcp__SERVER__TOOL.`)
  }
  return notes
}

interface Doing {
  readonly tool: string
  readonly content: string | undefined
  readonly cwd: string | undefined
}

/** Notes on the rule that an entry became: how it differs from the entry. */
function doings(rule: Rule, { tool, content, cwd }: Doing): string[] {
  const notes: string[] = []
  const [path] = Object.entries(rule.input ?? {}).flatMap(([field, patterns]) =>
    PATH_FIELDS.has(field) ? [patterns].flat() : [],
  )
  if (content !== undefined && ["Write", "MultiEdit", "NotebookEdit"].includes(tool)) {
    notes.push(`Here it holds for ${tool}.`)
  }
  if (path !== undefined && (path.startsWith("**") || /[?[{]/.test(content ?? ""))) {
    notes.push(`Here it holds for every path like ${path}, which is wider.`)
  }
  if (tool.endsWith("*") && !SERVER.test(tool)) {
    notes.push(`Here it holds for every tool whose name begins with ${tool.slice(0, -1)}.`)
  }
  if (tool === "Read" && rule.effect === "deny") {
    notes.push("A command such as cat can still read the file: deny that too.")
  }
  return rule.effect === "allow" ? [...notes, ...uncovered(rule, cwd)] : notes
}

/** A note on what the star of a command does not cover here, by an example that the engine judges. */
function uncovered(rule: Rule, cwd = "/"): string[] {
  const pattern = [rule.input?.["command"] ?? []].flat().find((each) => each.includes("*"))
  if (pattern === undefined) return []
  for (const words of pattern.startsWith("*") ? [" make x "] : [" x ", " x x "]) {
    const command = pattern.replaceAll("*", words).replace(/\s+/g, " ").trim()
    const work = new Work(Number.POSITIVE_INFINITY)
    const subject = subjectOf({ tool: "Bash", input: { command } }, { session: "", cwd }, work)
    const coverage = coverCommand([rule], command, subject)
    if (coverage.ok) continue
    // A pattern that covers no part of it has its star in quotes, and the example is none.
    const because = coverage.missing.because ?? (coverage.covered.length > 0 ? RUNS : undefined)
    if (because !== undefined) return [`Here it does not allow "${command}": ${because}.`]
  }
  return []
}

function notesOf(permissions: Readonly<Record<string, unknown>>): string[] {
  const known = new Set<string>(EFFECTS)
  return Object.keys(permissions)
    .filter((name) => !known.has(name))
    .slice(0, 20)
    .map((name) => `permissions.${name.slice(0, 64)} has no counterpart here, and was left out.`)
}
