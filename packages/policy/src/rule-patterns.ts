import { type CommandPattern, commandPattern } from "./command-pattern.ts"
import { type Glob, textGlob } from "./glob.ts"
import { PATH_FIELDS, type PathPattern, pathPattern } from "./path-pattern.ts"
import type { Rule } from "./schemas.ts"
import { READING } from "./shell-reader.ts"
import { type UrlPattern, urlPattern } from "./url-pattern.ts"
import { Work } from "./work.ts"

/** A pattern of a rule, read when it is first needed and kept as long as its rule. */
export class Pattern {
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
export function patternsOf(rule: Rule): RulePatterns {
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
