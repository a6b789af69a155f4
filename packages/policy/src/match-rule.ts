import { isObject } from "@signalbox/protocol"
import {
  type CommandForms,
  commandForms,
  commandIsCovered,
  commandIsTouched,
  plainCommand,
  type SimpleCommand,
  simpleCommand,
} from "./command-pattern.ts"
import { PATH_FIELDS, pathIsCovered, pathIsTouched } from "./path-pattern.ts"
import { accepts, MAX_TEXT_CHARS, type Match, textPattern, urlMatches } from "./pattern.ts"
import type { Rule } from "./schemas.ts"

/** A question, as far as rules look at it. */
export interface PolicyRequest {
  /** The tool's name; "elicitation" and "dialog" for the questions that no tool asks. */
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** The agent says that a person must see it. */
  readonly needsPerson?: boolean
}

/** What is known of the session that asks. */
export interface PolicyContext {
  readonly session: string
  readonly cwd?: string | undefined
  readonly mode?: string | undefined
}

/** A request with what was worked out of it, once for all rules. */
export interface Subject {
  readonly request: PolicyRequest
  readonly context: PolicyContext
  readonly command: (text: string) => SimpleCommand
  readonly forms: (text: string) => CommandForms
}

export interface RuleMatch {
  readonly match: Match
  /** An allow that fitted but for this, to be read after "because". */
  readonly because?: string
}

/** Questions that want a person's own words: a rule that does not name them does not answer them. */
const PERSONAL = new Set(["AskUserQuestion", "ExitPlanMode", "elicitation", "dialog"])
const SEARCHES = new Set(["Glob", "Grep", "LS"])
const NO: RuleMatch = { match: "no" }

export function subjectOf(request: PolicyRequest, context: PolicyContext): Subject {
  const read = request.tool === "Bash" ? (text: string) => simpleCommand(text) : plainCommand
  return { request, context, command: remember(read), forms: remember(commandForms) }
}

export function isPersonal(request: PolicyRequest): boolean {
  return PERSONAL.has(request.tool) || request.needsPerson === true
}

/** An allow fits only what it covers for certain; a deny or an ask fits what it may concern. */
export function matchRule(rule: Rule, subject: Subject): RuleMatch {
  const surroundings = least([matchTool(rule, subject.request), ...matchContext(rule, subject.context)])
  const strict = rule.effect === "allow"
  if (surroundings === "no" || (strict && surroundings === "maybe")) return NO
  if (strict && leavesSandbox(rule, subject.request)) {
    return { match: "no", because: "it runs outside the sandbox, which the rule does not mention" }
  }
  const fields = Object.entries(rule.input ?? {}).map(([field, patterns]) =>
    matchField(subject, { field, patterns: [patterns].flat(), strict }),
  )
  const match = least([surroundings, ...fields.map((field) => field.match)])
  if (!strict) return { match }
  if (match === "yes") return { match }
  const failed = fields.filter((field) => field.match !== "yes")
  const because = failed.length === 1 ? failed[0]?.because : undefined
  return because === undefined ? NO : { match: "no", because }
}

function matchTool(rule: Rule, request: PolicyRequest): Match {
  const { tool, effect } = rule
  if (effect === "allow" && isPersonal(request)) return tool === request.tool ? "yes" : "no"
  if (tool === undefined || tool === request.tool) return "yes"
  if (!tool.endsWith("*")) return "no"
  const start = tool.slice(0, -1)
  if (!request.tool.startsWith(start)) return "no"
  // `mcp__git__*` must not cover the tools of a server that calls itself `git__x`.
  return effect === "allow" && request.tool.slice(start.length).includes("__") && start.endsWith("__") ? "no" : "yes"
}

function matchContext(rule: Rule, context: PolicyContext): Match[] {
  const { session, mode, cwd } = rule
  return [
    session === undefined || session === context.session ? "yes" : "no",
    mode === undefined || mode === context.mode ? "yes" : context.mode === undefined ? "maybe" : "no",
    cwd === undefined ? "yes" : matchFolder(rule, cwd, context),
  ]
}

function matchFolder(rule: Rule, pattern: string, context: PolicyContext): Match {
  if (context.cwd === undefined) return "maybe"
  const question = { pattern, path: context.cwd, cwd: undefined }
  if (rule.effect === "allow") return pathIsCovered(question) ? "yes" : "no"
  return pathIsTouched(question)
}

function leavesSandbox(rule: Rule, request: PolicyRequest): boolean {
  const field = "dangerouslyDisableSandbox"
  return request.input[field] === true && rule.input?.[field] === undefined
}

interface FieldQuestion {
  readonly field: string
  readonly patterns: readonly string[]
  readonly strict: boolean
}

function matchField(subject: Subject, question: FieldQuestion): RuleMatch {
  const { request, context } = subject
  const searchesHere = question.field === "path" && SEARCHES.has(request.tool)
  const value = request.input[question.field] ?? (searchesHere ? context.cwd : undefined)
  if (value === undefined || value === null) return NO
  if (Array.isArray(value)) {
    const each = value.map((item: unknown) => matchValue(subject, question, item).match)
    return { match: each.length === 0 ? "no" : question.strict ? least(each) : most(each) }
  }
  return matchValue(subject, question, value)
}

function matchValue(subject: Subject, question: FieldQuestion, value: unknown): RuleMatch {
  const { field, patterns, strict } = question
  if (isObject(value) || Array.isArray(value)) {
    // Its text as JSON is good enough to forbid something by, not to allow it.
    return strict ? NO : { match: most(patterns.map((pattern) => matchText(pattern, JSON.stringify(value)))) }
  }
  // A number where a path or a command belongs is nothing that a tool was made for.
  if (strict && typeof value !== "string" && (field === "command" || PATH_FIELDS.has(field))) return NO
  const text = String(value)
  if (field === "command" && strict) return matchStrictCommand(subject, patterns, text)
  return { match: most(patterns.map((pattern) => matchOne(subject, { field, pattern, text, strict }))) }
}

function matchStrictCommand(subject: Subject, patterns: readonly string[], text: string): RuleMatch {
  const command = subject.command(text)
  if (patterns.some((pattern) => commandIsCovered(pattern, command))) return { match: "yes" }
  if (command.simple) return NO
  // Only where it would have fitted but for this: a rule for another program has nothing to do with it.
  const nearly = patterns.some((pattern) => commandIsTouched(pattern, subject.forms(text)) !== "no")
  return nearly ? { match: "no", because: command.problem } : NO
}

interface TextQuestion {
  readonly field: string
  readonly pattern: string
  readonly text: string
  readonly strict: boolean
}

function matchOne(subject: Subject, { field, pattern, text, strict }: TextQuestion): Match {
  if (field === "command") return commandIsTouched(pattern, subject.forms(text))
  if (PATH_FIELDS.has(field)) {
    const question = { pattern, path: text, cwd: subject.context.cwd }
    return strict ? (pathIsCovered(question) ? "yes" : "no") : pathIsTouched(question)
  }
  if (field === "url" && /^[^/]+:\/\//.test(pattern)) {
    if (urlMatches(pattern, text)) return "yes"
    if (strict) return "no"
  }
  return matchText(pattern, text)
}

/** In an allow a "maybe" is a no like any other. */
function matchText(pattern: string, text: string): Match {
  if (text.length > MAX_TEXT_CHARS) return "maybe"
  return accepts(textPattern(pattern), text) ? "yes" : "no"
}

function least(matches: readonly Match[]): Match {
  if (matches.includes("no")) return "no"
  return matches.includes("maybe") ? "maybe" : "yes"
}

function most(matches: readonly Match[]): Match {
  if (matches.includes("yes")) return "yes"
  return matches.includes("maybe") ? "maybe" : "no"
}

/** The last text suffices: a request has one command. */
function remember<T>(work: (text: string) => T): (text: string) => T {
  let last: { text: string; result: T } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, result: work(text) }
    return last.result
  }
}
