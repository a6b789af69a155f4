import type { Rule } from "./schemas.ts"
import type { Span } from "./shell-reading.ts"

/** A rule that had a say, and where it stands. */
export interface WhyRule {
  readonly id: string
  /** Its number among the rules, from 1. */
  readonly place: number
  /** What it decided about, in the text of `field`. */
  readonly span?: Span
}

/** Why a verdict is what it is. */
export interface Why {
  /** The first one decided; several, if each allows a part of a command. None, if no rule had a say. */
  readonly rules: readonly WhyRule[]
  /** The field of the tool's input that decided, if one did. */
  readonly field?: string
  /** The part of that field that decided. */
  readonly span?: Span
  /** What stands there, shortened if it is long. */
  readonly text?: string
  /** What would have to change for another verdict: a sentence. */
  readonly change: string
}

const MAX_SHOWN_CHARS = 80
const MAX_SHOWN_RULES = 16

interface Decided {
  readonly rule: Rule
  readonly span?: Span | undefined
}

export interface WhyParts {
  readonly decided?: readonly Decided[]
  readonly field?: string | undefined
  readonly span?: Span | undefined
  /** The whole text that the span is part of. */
  readonly text?: string | undefined
  readonly change: string
}

export function whyOf(rules: readonly Rule[], { decided = [], field, span, text, change }: WhyParts): Why {
  const named = new Map<Rule, WhyRule>()
  for (const { rule, span: at } of decided) {
    if (named.has(rule) || named.size >= MAX_SHOWN_RULES) continue
    named.set(rule, { id: rule.id, place: rules.indexOf(rule) + 1, ...(at === undefined ? {} : { span: at }) })
  }
  return {
    rules: [...named.values()],
    ...(field === undefined ? {} : { field }),
    ...(span === undefined ? {} : { span }),
    ...(span === undefined || text === undefined ? {} : { text: shownPart(text, span) }),
    change,
  }
}

/** A part of a command, short enough for a sentence. */
export function shownPart(text: string, { start, end }: Span): string {
  const part = text.slice(start, end).replace(/\s+/g, " ").trim()
  return part.length <= MAX_SHOWN_CHARS ? part : `${part.slice(0, MAX_SHOWN_CHARS)}…`
}

/** Rules in a sentence: `Rule "a" allows`, or `Rules "a", "b" and 3 more allow`. */
export function namesOf(decided: readonly Decided[]) {
  const ids = [...new Set(decided.map(({ rule }) => rule.id))]
  const some = ids.slice(0, MAX_SHOWN_RULES).map((id) => `"${id}"`)
  const list = some.join(", ") + (ids.length > some.length ? ` and ${ids.length - some.length} more` : "")
  const one = { subject: `Rule ${list}`, object: `rule ${list}`, verb: "allows" }
  return ids.length === 1 ? one : { subject: `Rules ${list}`, object: `rules ${list}`, verb: "allow" }
}
