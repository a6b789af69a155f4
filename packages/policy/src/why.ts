import type { Why } from "@signalbox/protocol/hub-api"
import type { Rule } from "./schemas.ts"
import type { Span } from "./shell-reading.ts"

const MAX_SHOWN_CHARS = 80
const MAX_LOOKED_CHARS = 1_000
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

/** `numbered`: the rules of the policy. A rule that is not one of them is a grant of the session, and has no place. */
export function whyOf(numbered: readonly Rule[], { decided = [], field, span, text, change }: WhyParts): Why {
  const named = new Map<Rule, Why["rules"][number]>()
  for (const { rule, span: at } of decided) {
    if (named.has(rule) || named.size >= MAX_SHOWN_RULES) continue
    const place = numbered.indexOf(rule) + 1
    named.set(rule, { id: rule.id, ...(place === 0 ? {} : { place }), ...(at === undefined ? {} : { span: at }) })
  }
  return {
    rules: [...named.values()],
    ...(field === undefined ? {} : { field }),
    ...(span === undefined ? {} : { span }),
    ...(span === undefined || text === undefined ? {} : { text: shownPart(text, span) }),
    change,
  }
}

/** A part of a command, short enough for a sentence. Only so much of a long one is looked at. */
export function shownPart(text: string, { start, end }: Span): string {
  const looked = text.slice(start, Math.min(end, start + MAX_LOOKED_CHARS))
  const part = looked.replace(/\s+/g, " ").trim()
  if (part.length <= MAX_SHOWN_CHARS && end - start <= MAX_LOOKED_CHARS) return part
  // Half of a character is none: not every store and reader takes it.
  return `${part.slice(0, MAX_SHOWN_CHARS).replace(/[\ud800-\udbff]$/, "")}…`
}

/** Rules in a sentence: `Rule "a" allows`, `Rules "a", "b" and 3 more allow`, `A grant of this session allows`. */
export function namesOf(numbered: readonly Rule[], decided: readonly Decided[]) {
  const rules = [...new Set(decided.map(({ rule }) => rule))]
  const own = rules.filter((rule) => numbered.includes(rule))
  const hasGrant = own.length < rules.length
  const some = own.slice(0, MAX_SHOWN_RULES).map(({ id }) => `"${id}"`)
  const list = some.join(", ") + (own.length > some.length ? ` and ${own.length - some.length} more` : "")
  const object = own.length === 0 ? undefined : `${own.length === 1 ? "rule" : "rules"} ${list}`
  const grant = hasGrant ? ["a grant of this session"] : []
  const subject = [...(object === undefined ? [] : [object]), ...grant].join(" and ")
  const verb = own.length + grant.length === 1 ? "allows" : "allow"
  return { object, hasGrant, subject: `${subject.slice(0, 1).toUpperCase()}${subject.slice(1)}`, verb }
}
