import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import { type CommandNeeds, needsOf } from "./command-cover.ts"
import { commandForms } from "./command-forms.ts"
import type { TouchedCommand } from "./command-pattern.ts"
import { MAX_TEXT_CHARS, type Work } from "./matching.ts"
import { isInside, type PathForms, pathForms } from "./path-pattern.ts"
import type { Surroundings } from "./rule-limits.ts"
import { readShell, type ShellReading } from "./shell-reading.ts"
import { type UrlForms, urlForms } from "./url-pattern.ts"

/** A question, as far as rules look at it. */
export interface PolicyRequest {
  /** The tool's name; "elicitation" and "dialog" for the questions that no tool asks. */
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** The agent says that a person must see it. */
  readonly needsPerson?: boolean
}

/** The question that a control request of an agent puts, or undefined if it puts none to a person. */
export function policyRequestOf(request: unknown): PolicyRequest | undefined {
  if (!isObject(request)) return undefined
  switch (request["subtype"]) {
    case "can_use_tool": {
      const needsPerson = request["requires_user_interaction"] === true || request["server_policy_ask_only"] === true
      const tool = textOf(request, "tool_name")
      return tool === undefined ? undefined : { tool, input: fieldOf(request, "input") ?? {}, needsPerson }
    }
    case "elicitation":
      return { tool: "elicitation", input: request }
    case "request_user_dialog":
      return { tool: "dialog", input: request }
    default:
      return undefined
  }
}

/** Questions that want a person's own words: a rule that does not name them does not answer them. */
const PERSONAL = new Set(["AskUserQuestion", "ExitPlanMode", "elicitation", "dialog"])

export function isPersonal(request: PolicyRequest): boolean {
  return PERSONAL.has(request.tool) || request.needsPerson === true
}

/** The text of a request that allow rules cover together. */
export function commandOf({ input }: PolicyRequest): string | undefined {
  return typeof input["command"] === "string" ? input["command"] : undefined
}

/** Facts about the session that asks. */
export interface PolicyContext extends Surroundings {
  readonly session: string
  readonly cwd?: string | undefined
  readonly mode?: string | undefined
}

/** A request with what was worked out of it, once for all rules. */
export interface Subject {
  readonly request: PolicyRequest
  readonly context: PolicyContext
  readonly work: Work
  readonly searched: SearchedFolders | undefined
  readonly reading: (text: string) => ShellReading
  /** As an allow sees a command. */
  readonly needs: (text: string) => CommandNeeds
  /** As a deny or an ask sees it. */
  readonly touched: (text: string) => TouchedCommand
  readonly path: (text: string) => PathForms
  /** The session's folder as a path of its own. */
  readonly folder: (text: string) => PathForms
  readonly url: (text: string) => UrlForms | undefined
  readonly json: (value: unknown) => string | undefined
}

/** Everything that some shell gives a meaning: another shell than Bash may quote otherwise, and hide an operator from us. */
const SPECIAL = /["'\\`$;&|<>(){}!#%^\n\r]/
const NOT_BASH = "it contains quotes or operators, and only Bash's are known"

export function subjectOf(request: PolicyRequest, context: PolicyContext, work: Work): Subject {
  const isBash = request.tool === "Bash"
  const reading = remember((text: string) => readShell(text, work))
  const path = remember((text: string) => pathForms(text, context.cwd, work))
  return {
    request,
    context,
    work,
    searched: searchedFolders(request.tool, request.input, context.cwd),
    reading,
    needs: remember((text: string) => {
      const needs = needsOf(reading(text), { work, isOutside: (file) => !isInside(path(file)) })
      const span = { start: 0, end: text.length }
      return isBash || !SPECIAL.test(text) ? needs : { ...needs, problem: { because: NOT_BASH, span } }
    }),
    touched: remember((text: string) => ({
      reading: reading(text),
      forms: commandForms(text, reading(text), work),
      path,
    })),
    path,
    folder: remember((text: string) => pathForms(text, undefined, work)),
    url: remember((text: string) => urlForms(text, work)),
    json: remember((value: unknown) => jsonText(value, work)),
  }
}

function remember<K, T>(read: (key: K) => T): (key: K) => T {
  const results = new Map<K, { readonly result: T }>()
  return (key) => {
    let known = results.get(key)
    if (known === undefined) {
      known = { result: read(key) }
      results.set(key, known)
    }
    return known.result
  }
}

const MAX_JSON_DEPTH = 256

/** The value as JSON, or undefined if that is longer or deeper than rules look at: then nothing of it is copied. */
function jsonText(value: unknown, work: Work): string | undefined {
  return fits(value, work) ? JSON.stringify(value) : undefined
}

/** Counts at least what the text must have. Goes on only while it may fit, however much there is. */
function fits(value: unknown, work: Work): boolean {
  let chars = 0
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: each, depth } = next
    chars += 1 + (typeof each === "string" || Array.isArray(each) ? each.length : 0)
    if (chars > MAX_TEXT_CHARS || depth > MAX_JSON_DEPTH) return false
    if (Array.isArray(each)) for (const item of each) open.push({ value: item, depth: depth + 1 })
    else if (isObject(each)) {
      for (const name in each) {
        chars += 1 + name.length
        if (chars > MAX_TEXT_CHARS) return false
        open.push({ value: each[name], depth: depth + 1 })
      }
    }
  }
  work.spend(8 * chars)
  return true
}

/** The folders that a search looks in. A pattern for file names can lead out of the folder that the search names. */
interface SearchedFolders {
  readonly folders: readonly string[]
  /** The pattern may lead elsewhere. */
  readonly isUnclear: boolean
}

const SEARCHES = new Set(["Glob", "Grep", "LS"])
/** A longer pattern is not followed. */
const MAX_GLOB_CHARS = 4096
const MAGIC = /[*?[\]{}()!+@\\]/

/** Undefined if the tool does not search. */
function searchedFolders(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  cwd: string | undefined,
): SearchedFolders | undefined {
  if (!SEARCHES.has(tool)) return undefined
  const path = input["path"] ?? cwd
  if (typeof path !== "string") return undefined
  const pattern = tool === "Glob" ? input["pattern"] : undefined
  if (typeof pattern !== "string" || pattern.length > MAX_GLOB_CHARS) {
    return { folders: [path], isUnclear: typeof pattern === "string" }
  }
  const segments = pattern.split("/")
  // A group that goes over a slash is more than one segment.
  const spans = /[{(][^{}()]*\//.test(pattern)
  const magic = segments.findIndex((segment) => MAGIC.test(segment))
  const start = segments.slice(0, magic === -1 ? segments.length : magic).join("/")
  const startsElsewhere = /^(?:\s*[/\\~]|\s*[A-Za-z]:)/.test(pattern)
  return {
    // `/` alone is the start of `/*`.
    folders: [path, startsElsewhere ? start || "/" : `${path}/${start}`],
    isUnclear: spans || /\\|\.\.|[{,|]\s*[/~]/.test(pattern.slice(start.length)) || segments.some(couldBeUp),
  }
}

/**
 * `.{.,}`, `{.,x}{.,y}` and `[.-.]` may be two dots in disguise: a segment with groups in it may, unless a letter stands
 * there whatever is chosen from them.
 */
function couldBeUp(segment: string): boolean {
  if (!/[{[(]/.test(segment)) return false
  const fixed = segment
    .replace(/\[[^\]]*\]?/g, (group) => (/[.!^\\:]|[!-.]-./.test(group) ? "" : "x"))
    .replace(/[{(][^{}()]*[)}]/g, (group) => (group.slice(1, -1).split(/[,|]/).every(hasLetter) ? "x" : ""))
  // Groups within groups are not followed.
  return /[{}()]/.test(fixed) || !hasLetter(fixed)
}

/** A character that no pattern takes for a dot or for nothing. */
function hasLetter(text: string): boolean {
  return /[^.,|{}()[\]@!+?*]/.test(text)
}
