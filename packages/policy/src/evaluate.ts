import { textOf } from "@signalbox/protocol"
import type { Why } from "@signalbox/protocol/hub-api"
import type { Coverage } from "./command-cover.ts"
import { concernsCommand, coverCommand, matchRule } from "./match-rule.ts"
import { OverBudget, Work } from "./matching.ts"
import type { Policy, Rule, RuleEffect } from "./schemas.ts"
import type { ShellProblem, Span } from "./shell-reading.ts"
import { MAX_COMMAND_CHARS } from "./shell-text.ts"
import { commandOf, isPersonal, type PolicyContext, type PolicyRequest, type Subject, subjectOf } from "./subject.ts"

export interface Verdict {
  readonly effect: RuleEffect
  /** The rule that decided. Without one it is an ask. */
  readonly rule?: string
  /** A sentence for people. */
  readonly reason: string
  /** The message of a deny rule for the agent, if it has one. */
  readonly message?: string
  /** When the ask expires, if its rule says so. */
  readonly expiresAfterMs?: number
  /** How often that may be put off, if the rule says so. */
  readonly maxExtensions?: number
  /** Asks only: another person than the one who started the session must answer. */
  readonly fourEyes?: true
  /** Allows only: the rules with a bound (`atMost`) that this counts against. */
  readonly counts?: readonly string[]
  readonly why: Why
}

interface Judging {
  readonly rules: readonly Rule[]
  /** The rules of the policy: places are counted in them. A rule that is not among them is a grant of the session. */
  readonly numbered: readonly Rule[]
  /** The rules that allow, where they are others. */
  readonly allowing: readonly Rule[]
}

const TOO_MUCH_WORK = "Checking this request against the rules takes too much work, so a person decides."
const LESS_WORK = "Shorter input or fewer patterns would be checked."
const FAILED = "Checking this request against the rules failed, so a person decides."
const REPORT = "This is a mistake in the policy engine: please report the request."

/**
 * Deny beats ask beats allow, whatever the order; no rule means ask. Among equals the first one is named. Whatever goes
 * wrong while a request is checked, a person decides.
 */
export function evaluate(
  policy: Policy & Partial<Judging>,
  request: PolicyRequest,
  context: PolicyContext,
  work = new Work(),
): Verdict {
  const { rules, numbered = rules, allowing = rules } = policy
  try {
    const subject = subjectOf(request, context, work)
    const verdict = decide({ rules, numbered, allowing }, subject)
    return verdict.effect === "ask" ? { ...verdict, ...eyesOf(rules, subject) } : verdict
  } catch (error) {
    const isCostly = error instanceof OverBudget
    const change = isCostly ? LESS_WORK : REPORT
    const reason = isCostly ? `${TOO_MUCH_WORK} ${LESS_WORK}` : FAILED
    // Nobody knows whether such a rule fits, so it does.
    const fourEyes = rules.some((rule) => rule.fourEyes === true) ? { fourEyes: true as const } : {}
    return { effect: "ask", reason, ...fourEyes, why: whyOf(numbered, { change }) }
  }
}

/** Any rule that may fit asks for a second person, whichever rule is named. */
function eyesOf(rules: readonly Rule[], subject: Subject): Pick<Verdict, "fourEyes"> {
  const isFitting = rules.some((rule) => rule.fourEyes === true && matchRule(rule, subject).match !== "no")
  return isFitting ? { fourEyes: true } : {}
}

function decide({ rules, numbered, allowing }: Judging, subject: Subject): Verdict {
  const denying = find(rules, "deny", subject)
  if (denying.yes !== undefined) return settle(numbered, denying.yes, subject)
  const asking = find(rules, "ask", subject)
  if (asking.yes !== undefined) return settle(numbered, asking.yes, subject)
  const unclear = denying.maybe ?? asking.maybe
  if (unclear !== undefined) return askBecauseUnclear(numbered, unclear, subject)
  return allow(allowing, numbered, subject)
}

interface Hit {
  readonly rule: Rule
  readonly field?: string | undefined
  readonly span?: Span | undefined
  readonly unknown?: string | undefined
}

interface Found {
  /** The first rule that fits, after which no other is looked at. */
  readonly yes?: Hit
  /** The first one that may fit. */
  readonly maybe?: Hit
  /** The first one that nearly did, and why not, to be read after "because". */
  readonly nearly?: { readonly rule: Rule; readonly because: string }
}

function find(rules: readonly Rule[], effect: RuleEffect, subject: Subject): Found {
  let found: Found = {}
  for (const rule of rules) {
    if (rule.effect !== effect) continue
    const { match, because, field, span, unknown } = matchRule(rule, subject)
    const hit = { rule, field, span, unknown }
    if (match === "yes") return { yes: hit }
    if (match === "maybe") found = { maybe: hit, ...found }
    if (because !== undefined) found = { nearly: { rule, because }, ...found }
  }
  return found
}

/** Rules with a pattern for the command may share it; one without covers it whatever it is, if it can be read. */
function allow(rules: readonly Rule[], numbered: readonly Rule[], subject: Subject): Verdict {
  const { request } = subject
  const command = commandOf(request)
  const isShared = (rule: Rule) => command !== undefined && rule.input?.["command"] !== undefined
  const allowing = find(
    rules.filter((rule) => !isShared(rule)),
    "allow",
    subject,
  )
  const sharing = rules.filter((rule) => rule.effect === "allow" && isShared(rule))
  const coverage = command === undefined || sharing.length === 0 ? undefined : coverCommand(sharing, command, subject)
  const first = coverage?.ok === true ? coverage.covered[0]?.rule : undefined
  const isFirst = (rule: Rule) => first === undefined || rules.indexOf(rule) < rules.indexOf(first)
  const broken = allowing.yes === undefined ? undefined : brokenCommand(subject)
  if (broken !== undefined) return askBecauseBroken(numbered, broken, command ?? "")
  if (allowing.yes !== undefined && isFirst(allowing.yes.rule)) return settle(numbered, allowing.yes, subject)
  if (coverage !== undefined && command !== undefined) {
    const verdict = coverage.ok ? allowShared(numbered, coverage, command) : askForMissing(numbered, coverage, command)
    if (verdict !== undefined) return verdict
  }
  return askForNone(numbered, { ...nearlyFitting(sharing, subject), ...allowing }, request)
}

/** A rule that shares a command, but fails for another reason. */
function nearlyFitting(sharing: readonly Rule[], subject: Subject): Found {
  const command = commandOf(subject.request) ?? ""
  for (const rule of sharing) {
    const { because } = matchRule(rule, subject, "command")
    if (because !== undefined && concernsCommand(rule, command, subject)) return { nearly: { rule, because } }
  }
  return {}
}

/** A command that Bash itself cannot read is nobody's to allow unseen, nor one with such a text for another shell. */
function brokenCommand(subject: Subject): ShellProblem | undefined {
  const command = subject.request.tool === "Bash" ? commandOf(subject.request) : undefined
  if (command === undefined || command.length > MAX_COMMAND_CHARS) return undefined
  const { isBroken, problem } = subject.reading(command)
  return isBroken ? problem : subject.needs(command).broken
}

const SENTENCES: Readonly<Record<RuleEffect, string>> = {
  allow: "allows this",
  deny: "forbids this",
  ask: "wants a person to decide this",
}

const WISHES: Readonly<Record<RuleEffect, string>> = {
  allow: "To be asked",
  deny: "To allow it",
  ask: "To allow it without a person",
}

const REVOKE = "revoke that grant"

/** A rule of the policy is changed where it stands, a grant is revoked. */
function undoing(numbered: readonly Rule[], rule: Rule, verb = "change or remove"): string {
  const place = numbered.indexOf(rule) + 1
  return place === 0 ? REVOKE : `${verb} rule "${rule.id}" (number ${place})`
}

/** A field that decided as a whole is its own part. */
function whyOfHit(numbered: readonly Rule[], { rule, field, span }: Hit, subject: Subject, change: string): Why {
  const text = field === undefined ? undefined : textOf(subject.request.input, field)
  const whole = text === undefined ? undefined : { start: 0, end: text.length }
  return whyOf(numbered, { decided: [{ rule, span }], field, span: span ?? whole, text, change })
}

function settle(numbered: readonly Rule[], hit: Hit, subject: Subject): Verdict {
  const { rule } = hit
  const sentence = `${namesOf(numbered, [hit]).subject} ${SENTENCES[rule.effect]}`
  return {
    effect: rule.effect,
    rule: rule.id,
    reason: rule.reason === undefined ? `${sentence}.` : `${sentence}: ${rule.reason}`,
    ...(rule.message === undefined ? {} : { message: rule.message }),
    ...expiryOf(rule),
    ...countsOf([rule]),
    why: whyOfHit(numbered, hit, subject, `${WISHES[rule.effect]}, ${undoing(numbered, rule)}.`),
  }
}

function countsOf(rules: readonly Rule[]): Pick<Verdict, "counts"> {
  const counts = [...new Set(rules.filter(({ atMost }) => atMost !== undefined).map(({ id }) => id))]
  return counts.length === 0 ? {} : { counts }
}

function expiryOf({ expiresAfterMs, maxExtensions }: Rule): Pick<Verdict, "expiresAfterMs" | "maxExtensions"> {
  if (expiresAfterMs === undefined) return {}
  return maxExtensions === undefined ? { expiresAfterMs } : { expiresAfterMs, maxExtensions }
}

function askBecauseUnclear(numbered: readonly Rule[], hit: Hit, subject: Subject): Verdict {
  const { rule, unknown } = hit
  const says = rule.effect === "deny" ? "forbid this" : "want a person to decide this"
  const undo = undoing(numbered, rule, "change")
  const change =
    unknown === undefined
      ? `Write it so that it can be read beforehand, or ${undo}.`
      : `To be asked no longer, ${undo}: it depends on that.`
  return {
    effect: "ask",
    rule: rule.id,
    reason: `Rule "${rule.id}" may ${says}: ${unknown ?? "what will run, or where, cannot be told beforehand"}.`,
    ...expiryOf(rule),
    why: whyOfHit(numbered, hit, subject, change),
  }
}

function askBecauseBroken(numbered: readonly Rule[], { because, span }: ShellProblem, text: string): Verdict {
  const change = "Write it so that Bash can read it."
  return {
    effect: "ask",
    reason: `No rule allows this because ${because}.`,
    why: whyOf(numbered, { field: "command", span, text, change }),
  }
}

function allowShared(numbered: readonly Rule[], { covered }: Coverage<Rule> & { ok: true }, text: string): Verdict {
  const [first] = covered
  const counts = countsOf(covered.map(({ rule }) => rule))
  const names = namesOf(numbered, covered)
  const ways = [
    ...(names.object === undefined ? [] : [`change or remove ${names.object}`]),
    ...(names.hasGrant ? [REVOKE] : []),
  ]
  const change = `${WISHES.allow}, ${ways.join(" or ")}.`
  const why = whyOf(numbered, {
    decided: covered,
    field: "command",
    span: { start: 0, end: text.length },
    text,
    change,
  })
  if (first === undefined || why.rules.length > 1) {
    const reason = `${names.subject} together allow every part of this.`
    return { effect: "allow", ...(first === undefined ? {} : { rule: first.rule.id }), reason, ...counts, why }
  }
  const sentence = `${names.subject} allows this`
  const reason = first.rule.reason === undefined ? `${sentence}.` : `${sentence}: ${first.rule.reason}`
  return { effect: "allow", rule: first.rule.id, reason, ...counts, why }
}

/** Undefined if rules have nothing to do with the command. */
function askForMissing(
  numbered: readonly Rule[],
  { covered, missing }: Coverage<Rule> & { ok: false },
  text: string,
): Verdict | undefined {
  const { span, because, nearly, isUnreadable = false } = missing
  const part = shownPart(text, span)
  const parts: Omit<WhyParts, "change"> = { field: "command", span, text }
  if (because !== undefined && nearly !== undefined) {
    const change = isUnreadable
      ? `No pattern covers "${part}" as it is written: write it in another way.`
      : `To allow it, add a rule whose pattern is "${part}" itself, without stars.`
    const why = whyOf(numbered, { ...parts, decided: [{ rule: nearly, span }], change })
    return {
      effect: "ask",
      reason: `${namesOf(numbered, [{ rule: nearly }]).subject} would allow this, but does not because ${because}.`,
      why,
    }
  }
  if (covered.length === 0) return undefined
  const why = whyOf(numbered, { ...parts, decided: covered, change: `To allow it, add a rule that allows "${part}".` })
  const { subject, verb } = namesOf(numbered, covered)
  return { effect: "ask", reason: `${subject} ${verb} a part of this, but no rule allows "${part}".`, why }
}

const ADD_RULE = "To allow it, add a rule that allows it."

function askForNone(numbered: readonly Rule[], { nearly }: Found, request: PolicyRequest): Verdict {
  if (nearly !== undefined) {
    const reason = `${namesOf(numbered, [nearly]).subject} would allow this, but does not because ${nearly.because}.`
    const isOwn = numbered.includes(nearly.rule)
    const change = isOwn ? `To allow it, ${undoing(numbered, nearly.rule, "change")}.` : ADD_RULE
    return { effect: "ask", reason, why: whyOf(numbered, { decided: [{ rule: nearly.rule }], change }) }
  }
  const isForPerson = isPersonal(request)
  const reason = isForPerson
    ? "This question is for a person, and no rule that names it answers it."
    : "No rule covers this."
  const change = isForPerson ? "To answer it by a rule, name the tool in it." : ADD_RULE
  return { effect: "ask", reason, why: whyOf(numbered, { change }) }
}

const MAX_SHOWN_CHARS = 80
const MAX_LOOKED_CHARS = 1_000
const MAX_SHOWN_RULES = 16

interface Decided {
  readonly rule: Rule
  readonly span?: Span | undefined
}

interface WhyParts {
  readonly decided?: readonly Decided[]
  readonly field?: string | undefined
  readonly span?: Span | undefined
  /** The whole text that the span is part of. */
  readonly text?: string | undefined
  readonly change: string
}

/** `numbered`: the rules of the policy. A rule that is not one of them is a grant of the session, and has no place. */
function whyOf(numbered: readonly Rule[], { decided = [], field, span, text, change }: WhyParts): Why {
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
function shownPart(text: string, { start, end }: Span): string {
  const looked = text.slice(start, Math.min(end, start + MAX_LOOKED_CHARS))
  const part = looked.replace(/\s+/g, " ").trim()
  if (part.length <= MAX_SHOWN_CHARS && end - start <= MAX_LOOKED_CHARS) return part
  // Half of a character is none: not every store and reader takes it.
  return `${part.slice(0, MAX_SHOWN_CHARS).replace(/[\ud800-\udbff]$/, "")}…`
}

/** Rules in a sentence: `Rule "a" allows`, `Rules "a", "b" and 3 more allow`, `A grant of this session allows`. */
function namesOf(numbered: readonly Rule[], decided: readonly Decided[]) {
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
