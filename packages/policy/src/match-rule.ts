import { isObject } from "@signalbox/protocol"
import { type Coverage, type Covering, coverNeeds } from "./command-cover.ts"
import { type CommandPattern, commandIsTouched, commandPattern } from "./command-pattern.ts"
import { type Glob, LOOK, least, type Match, most, textGlob, textMatches, Work } from "./matching.ts"
import {
  PATH_FIELDS,
  type PathPattern,
  pathIsAbove,
  pathIsCovered,
  pathIsTouched,
  pathPattern,
} from "./path-pattern.ts"
import { limitOf } from "./rule-limits.ts"
import type { Rule } from "./schemas.ts"
import type { Span } from "./shell-reading.ts"
import { MAX_COMMAND_CHARS, READING } from "./shell-text.ts"
import { commandOf, isPersonal, type PolicyContext, type PolicyRequest, type Subject } from "./subject.ts"
import { type UrlPattern, urlIsCovered, urlIsTouched, urlPattern } from "./url-pattern.ts"

/** A pattern of a rule, read when it is first needed and kept as long as its rule. */
class Pattern {
  readonly #source: string
  #command: CommandPattern | undefined
  #path: PathPattern | undefined
  #text: Glob | undefined
  #url: { readonly pattern: UrlPattern | undefined } | undefined

  constructor(source: string) {
    this.#source = source
  }

  command(work: Work): CommandPattern {
    return (this.#command ??= this.#read(commandPattern, work))
  }

  path(work: Work): PathPattern {
    return (this.#path ??= this.#read(pathPattern, work))
  }

  text(work: Work): Glob {
    return (this.#text ??= this.#read(textGlob, work))
  }

  /** Undefined if it is no address. */
  url(work: Work): UrlPattern | undefined {
    this.#url ??= { pattern: this.#read(urlPattern, work) }
    return this.#url.pattern
  }

  prepare(field: string, work: Work): void {
    if (field === "command") this.command(work)
    else if (PATH_FIELDS.has(field)) this.path(work)
    else this.text(work)
    if (field === "url") this.url(work)
  }

  #read<T>(read: (source: string) => T, work: Work): T {
    work.spend(READING * this.#source.length)
    return read(this.#source)
  }
}

interface RulePatterns {
  readonly cwd: Pattern | undefined
  readonly fields: readonly { readonly field: string; readonly patterns: readonly Pattern[] }[]
}

const kept = new WeakMap<Rule, RulePatterns>()

/** The same for the same rule, so that a policy is read once and not for each request. */
function patternsOf(rule: Rule): RulePatterns {
  const known = kept.get(rule)
  if (known !== undefined) return known
  const patterns = {
    cwd: rule.cwd === undefined ? undefined : new Pattern(rule.cwd),
    fields: Object.entries(rule.input ?? {}).map(([field, sources]) => ({
      field,
      patterns: [sources].flat().map((source) => new Pattern(source)),
    })),
  }
  kept.set(rule, patterns)
  return patterns
}

/** Reads a policy beforehand, so that the first request need not: call it when a policy is put in force. */
export function prepare(rules: readonly Rule[]): void {
  const work = new Work(Number.POSITIVE_INFINITY)
  for (const { cwd, fields } of rules.map(patternsOf)) {
    cwd?.path(work)
    for (const { field, patterns } of fields) for (const pattern of patterns) pattern.prepare(field, work)
  }
}

interface RuleMatch {
  readonly match: Match
  /** An allow that fitted but for this, to be read after "because". */
  readonly because?: string
  /** The field that decided, and where in it. */
  readonly field?: string
  readonly span?: Span | undefined
  /** The fact that a rule which may fit depends on, as a sentence says that nobody knows it. */
  readonly unknown?: string | undefined
}

const NO: RuleMatch = { match: "no" }
const OUTSIDE = "it runs outside the sandbox, which the rule does not mention"

/** An allow fits only what it covers for certain; a deny or an ask fits what it may concern. */
export function matchRule(rule: Rule, subject: Subject, except?: "command"): RuleMatch {
  subject.work.spend(LOOK)
  const surroundings = least([matchTool(rule, subject.request), ...matchContext(rule, subject)])
  const strict = rule.effect === "allow"
  if (surroundings === "no" || (strict && surroundings === "maybe")) return NO
  const limit = limitOf(rule, subject.context, subject.work)
  if (limit?.match === "no" && !strict) return NO
  const outside = leavesSandbox(rule, subject.request) ? OUTSIDE : limit?.because
  const questions = patternsOf(rule).fields.filter(({ field }) => field !== except)
  const fields = questions.map((question) => ({
    ...matchField(subject, { ...question, strict }),
    field: question.field,
  }))
  const match = least([surroundings, limit?.match ?? "yes", ...fields.map((field) => field.match)])
  if (strict && outside !== undefined) {
    return fields.every((field) => field.match === "yes") ? { match: "no", because: outside } : NO
  }
  const [shown] = fields.filter(({ span }) => span !== undefined)
  if (!strict || match === "yes") {
    const isClear = match === "yes" || fields.some((field) => field.match !== "yes")
    return {
      ...(shown ?? fields[0]),
      match,
      ...(isClear ? {} : { unknown: unknownFact(rule, subject) ?? limit?.because }),
    }
  }
  const failed = fields.filter((field) => field.match !== "yes")
  const because = failed.length === 1 ? failed[0]?.because : undefined
  return because === undefined ? NO : { match: "no", because }
}

function unknownFact({ mode, cwd }: Rule, { context }: Subject): string | undefined {
  if (mode !== undefined && context.mode === undefined) return "the session's mode is not known"
  return cwd !== undefined && context.cwd === undefined ? "the session's folder is not known" : undefined
}

/** Whether allow rules cover a command together, each of them as far as its other parts fit. */
export function coverCommand(rules: readonly Rule[], text: string, subject: Subject): Coverage<Rule> {
  const fitting = rules.filter((rule) => matchRule(rule, subject, "command").match === "yes")
  return coverBy(
    fitting.map((rule) => ({ rule, patterns: commandPatternsOf(rule, subject.work) })),
    text,
    subject,
  )
}

/** True if a rule's patterns have anything to do with a command, whatever else the rule wants. */
export function concernsCommand(rule: Rule, text: string, { work, touched }: Subject): boolean {
  const command = touched(text)
  return commandPatternsOf(rule, work).some((pattern) => commandIsTouched(pattern, command, work).match !== "no")
}

function coverBy<R>(rules: readonly Covering<R>[], text: string, subject: Subject): Coverage<R> {
  const needs = subject.needs(text)
  const { problem } = needs
  if (problem === undefined) return coverNeeds(needs, rules, subject)
  // Only where it would have fitted but for this: a rule for another program has nothing to do with it.
  const touched = subject.touched(text)
  const nearly = rules.find(({ patterns }) =>
    patterns.some((pattern) => commandIsTouched(pattern, touched, subject.work).match !== "no"),
  )
  const { span, because } = problem
  return {
    ok: false,
    covered: [],
    missing: nearly === undefined ? { span } : { span, because, nearly: nearly.rule, isUnreadable: true },
  }
}

function commandPatternsOf(rule: Rule, work: Work): CommandPattern[] {
  const question = patternsOf(rule).fields.find(({ field }) => field === "command")
  return question?.patterns.map((pattern) => pattern.command(work)) ?? []
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

function matchContext(rule: Rule, subject: Subject): Match[] {
  const { session, mode } = rule
  const { context } = subject
  return [
    session === undefined || session === context.session ? "yes" : "no",
    mode === undefined || mode === context.mode ? "yes" : context.mode === undefined ? "maybe" : "no",
    matchFolder(rule, context, subject),
  ]
}

/** A command may go to other folders first: an allow wants all of them to fit, a deny or an ask any. */
function matchFolder(rule: Rule, context: PolicyContext, subject: Subject): Match {
  const { folder, work } = subject
  const { cwd } = patternsOf(rule)
  if (cwd === undefined) return "yes"
  if (context.cwd === undefined) return "maybe"
  const pattern = cwd.path(work)
  const command = subject.request.tool === "Bash" ? commandOf(subject.request) : undefined
  const visited = command === undefined ? [] : subject.needs(command).folders
  const paths = [folder(context.cwd), ...(visited ?? []).map((path) => subject.path(path))]
  if (rule.effect === "allow") {
    return visited !== undefined && paths.every((path) => pathIsCovered(pattern, path, work)) ? "yes" : "no"
  }
  const found = most(paths, (path) => pathIsTouched(pattern, path, work))
  return found === "no" && visited === undefined ? "maybe" : found
}

function leavesSandbox(rule: Rule, request: PolicyRequest): boolean {
  const field = "dangerouslyDisableSandbox"
  return request.input[field] === true && rule.input?.[field] === undefined
}

interface FieldQuestion {
  readonly field: string
  readonly patterns: readonly Pattern[]
  readonly strict: boolean
}

function matchField(subject: Subject, question: FieldQuestion): RuleMatch {
  const { request, searched } = subject
  if (question.field === "path" && searched !== undefined) return { match: matchSearch(subject, question) }
  const value = request.input[question.field]
  if (value === undefined || value === null) return NO
  if (!Array.isArray(value)) return matchValue(subject, question, value)
  return { match: matchList(subject, question, value) }
}

/** An allow wants all of a list to fit, a deny or an ask any. */
function matchList(subject: Subject, question: FieldQuestion, list: readonly unknown[]): Match {
  const match = (item: unknown) => matchValue(subject, question, item).match
  if (question.strict) return list.length > 0 && list.every((item) => match(item) === "yes") ? "yes" : "no"
  const found = most(list, match)
  if (found === "yes" || question.field !== "command") return found
  // A list may be one command, word by word.
  const words = list.slice(0, MAX_COMMAND_CHARS).filter((item) => typeof item === "string")
  return most([found, matchValue(subject, question, words.join(" ")).match], (each) => each)
}

/** An allow wants every folder that the search looks in to fit. */
function matchSearch(subject: Subject, { patterns, strict }: FieldQuestion): Match {
  const { searched, path, work } = subject
  const { folders = [], isUnclear = true } = searched ?? {}
  if (strict) {
    const isCovered = (folder: string) => patterns.some((each) => pathIsCovered(each.path(work), path(folder), work))
    return !isUnclear && folders.every(isCovered) ? "yes" : "no"
  }
  return most(patterns, (each) => {
    const pattern = each.path(work)
    const found = most(folders, (folder) => pathIsTouched(pattern, path(folder), work))
    if (found !== "no") return found
    return isUnclear || folders.some((folder) => pathIsAbove(pattern, path(folder), work)) ? "maybe" : "no"
  })
}

function matchValue(subject: Subject, question: FieldQuestion, value: unknown): RuleMatch {
  const { field, patterns, strict } = question
  const { work } = subject
  work.spend(LOOK)
  if (isObject(value) || Array.isArray(value)) {
    // Its text as JSON is good enough to forbid something by, not to allow it.
    if (strict) return NO
    const text = subject.json(value)
    if (text === undefined) return { match: "maybe" }
    return { match: most(patterns, (pattern) => textMatches(pattern.text(work), text, work)) }
  }
  // A number where a path or a command belongs is nothing that a tool was made for.
  if (strict && typeof value !== "string" && (field === "command" || PATH_FIELDS.has(field))) return NO
  const text = String(value)
  if (field === "command") return matchCommand(subject, question, text)
  return { match: most(patterns, (pattern) => matchText(subject, { field, pattern, text, strict })) }
}

function matchCommand(subject: Subject, { patterns, strict }: FieldQuestion, text: string): RuleMatch {
  const { work } = subject
  const read = patterns.map((pattern) => pattern.command(work))
  if (strict) {
    const coverage = coverBy([{ rule: true, patterns: read }], text, subject)
    return coverage.ok ? { match: "yes" } : { match: "no", ...becauseOf(coverage.missing.because) }
  }
  const touched = subject.touched(text)
  let found: RuleMatch = NO
  for (const pattern of read) {
    const touch = commandIsTouched(pattern, touched, work)
    if (touch.match === "yes") return touch
    if (touch.match === "maybe" && found.match === "no") found = touch
  }
  return found
}

const becauseOf = (because: string | undefined) => (because === undefined ? {} : { because })

interface TextQuestion {
  readonly field: string
  readonly pattern: Pattern
  readonly text: string
  readonly strict: boolean
}

function matchText(subject: Subject, { field, pattern, text, strict }: TextQuestion): Match {
  const { work } = subject
  if (PATH_FIELDS.has(field)) {
    const path = subject.path(text)
    if (strict) return pathIsCovered(pattern.path(work), path, work) ? "yes" : "no"
    return pathIsTouched(pattern.path(work), path, work)
  }
  const address = field === "url" ? pattern.url(work) : undefined
  if (address === undefined) return textMatches(pattern.text(work), text, work)
  const url = subject.url(text)
  if (strict) return url !== undefined && urlIsCovered(address, url, work) ? "yes" : "no"
  const found = url === undefined ? "no" : urlIsTouched(address, url, work)
  return found === "yes" ? found : most([found, textMatches(pattern.text(work), text, work)], (each) => each)
}
