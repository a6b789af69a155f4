import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { z } from "zod"
import { readPattern } from "./command-pattern.ts"
import { hasTooManyStars, hasUnseen, MAX_PATTERN_CHARS, MAX_PATTERN_STARS } from "./matching.ts"
import { isAbsolute, PATH_FIELDS } from "./path-pattern.ts"
import { DAYS } from "./rule-limits.ts"

const MAX_RULES = 1000
/** A year: longer is no expiry at all. */
const MAX_EXPIRY_MS = 366 * 24 * 60 * 60 * 1000
const MAX_EXTENSIONS = 100
const MAX_USES = 100_000
/** As many as anybody reads. */
const MAX_PROBLEMS = 100

const text = (max: number) => z.string().min(1, "must not be empty").max(max, `must have at most ${max} characters`)
const pattern = text(MAX_PATTERN_CHARS)
  .refine((value) => !hasUnseen(value), "contains a character that cannot be seen")
  .refine((value) => !hasTooManyStars(value), `must have at most ${MAX_PATTERN_STARS} stars`)
const folderPattern = pattern
  .refine((value) => isPlainPath(value), "must not contain .. nor begin with ~: write the folder itself")
  .refine((value) => isAbsolute(value) || value.startsWith("**"), "must begin with / or **")

export const RuleEffect = z.enum(["allow", "deny", "ask"])
export type RuleEffect = z.infer<typeof RuleEffect>

const toolName = text(256).refine(
  (name) => !name.includes("*") || /^mcp__[^*]*\*$/.test(name),
  "must be a tool's exact name, or mcp__SERVER__* for all tools of a server",
)

const timeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 09:30")

/** From one time to another, which may be on the next day. */
const Hours = z.strictObject({
  from: timeOfDay,
  to: timeOfDay,
  /** As in `Europe/Berlin`. */
  zone: text(64).refine(isZone, "must be the name of a time zone, such as UTC or Europe/Berlin").optional(),
  /** The days on which it begins. */
  days: z.array(z.enum(DAYS)).min(1).max(DAYS.length).optional(),
})

/** How often a rule may allow something. A day begins at midnight, UTC. */
const AtMost = z.strictObject({ count: z.int().min(1).max(MAX_USES), per: z.enum(["session", "day"]) })

/** All parts that are there must fit. A rule with none of them fits everything. */
export const Rule = z
  .strictObject({
    id: text(128),
    effect: RuleEffect,
    tool: toolName.optional(),
    /** By field of the tool's input; several patterns for one field: any of them. */
    input: z.record(text(128), z.union([pattern, z.array(pattern).min(1).max(64)])).optional(),
    /** The folder that the agent works in. */
    cwd: folderPattern.optional(),
    session: text(256).optional(),
    mode: text(64).optional(),
    /** The runner that the agent runs on, by its id. */
    runner: text(256).optional(),
    /** The branch of the session's folder: a pattern. */
    branch: pattern.optional(),
    /** The rule has no effect from then on. */
    until: z.iso.datetime({ offset: true, error: "must be a time such as 2030-01-31T18:00:00Z" }).optional(),
    hours: Hours.optional(),
    /** Allow rules only. */
    atMost: AtMost.optional(),
    /** Ask rules only: another person than the one who started the session must answer. */
    fourEyes: z.literal(true).optional(),
    /** Ask rules only: an ask that nobody has answered by then expires. */
    expiresAfterMs: z.int().min(1).max(MAX_EXPIRY_MS).optional(),
    /** How often a person may put that off, each time by as long again. */
    maxExtensions: z.int().min(0).max(MAX_EXTENSIONS).optional(),
    /** Why there is this rule, for people. */
    reason: text(1000).optional(),
    /** Deny rules only: what the agent is told. */
    message: text(4000).optional(),
  })
  .superRefine((rule, context) => {
    for (const [path, message] of problemsOf(rule)) context.addIssue({ code: "custom", path, message })
  })
export type Rule = z.infer<typeof Rule>

export const Policy = z.strictObject({
  rules: z.array(Rule).max(MAX_RULES, `a policy has at most ${MAX_RULES} rules`),
  /** Whether clients of the plain relay, which approve everything unseen, have their say. */
  relayAutoApproval: z.boolean().default(false),
})
export type Policy = z.infer<typeof Policy>

export type ParsedPolicy =
  | { readonly ok: true; readonly policy: Policy }
  /** A sentence each: which rule, which field, what is wrong. */
  | { readonly ok: false; readonly problems: readonly string[] }

/** `isKept`: one that was in force before is taken as it is, as long as it can be read. */
export function parsePolicy(value: unknown, { isKept = false } = {}): ParsedPolicy {
  const parsed = Policy.safeParse(value, { error: plainWords })
  const mistakes = isKept ? [] : mistakesIn(value)
  if (parsed.success && mistakes.length === 0) return { ok: true, policy: parsed.data }
  const issues = [...(parsed.error?.issues ?? []), ...mistakes]
  const problems = issues.slice(0, MAX_PROBLEMS).map((issue) => describe(issue, value))
  const more = issues.length - problems.length
  return { ok: false, problems: more === 0 ? problems : [...problems, `and ${more} more`] }
}

interface Issue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Mistakes in a policy that can be read, found in what was written: whatever else is wrong there, all is told at once. */
function mistakesIn(value: unknown): Issue[] {
  const rules: readonly unknown[] = isObject(value) && Array.isArray(value["rules"]) ? value["rules"] : []
  const issues: Issue[] = []
  const seen = new Set<string>()
  for (const [index, rule] of rules.entries()) {
    const tell = (field: string, message: string) => issues.push({ path: ["rules", index, field], message })
    const id = textOf(rule, "id")
    if (id !== undefined && seen.has(id)) tell("id", "is used by a rule before it")
    if (id !== undefined) seen.add(id)
    if (/[()\s]/.test(textOf(rule, "tool") ?? "")) {
      tell("tool", 'must be a name alone: write Bash(ls) as "tool": "Bash", "input": { "command": "ls" }')
    }
    const { from, to, days } = fieldOf(rule, "hours") ?? {}
    // Whole days can be said in no other way.
    if (from !== undefined && from === to && !(from === "00:00" && days !== undefined)) {
      tell("hours", "from and to are the same time: leave hours out for all day, or write 00:00 to 00:00 and days")
    }
  }
  return issues
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  array: "a list",
  object: "an object",
  record: "an object",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
}

/** Plain words for what the schema library says in its own terms. */
function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return `${issue.input === undefined ? "is missing: " : ""}must be ${KINDS[issue.expected] ?? issue.expected}`
    case "invalid_value":
      return `must be ${issue.values.map((each) => JSON.stringify(each)).join(" or ")}`
    case "invalid_union":
      return "must be text, or a list of texts"
    case "too_small":
      return `must ${issue.origin === "array" ? "have" : "be"} at least ${issue.minimum}`
    case "too_big":
      return `must ${issue.origin === "array" ? "have" : "be"} at most ${issue.maximum}`
    case "unrecognized_keys":
      return `there is no field ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`
    case "invalid_key":
      return "has a name that is empty or too long"
    case "invalid_element":
    case "invalid_format":
    case "not_multiple_of":
    case "custom":
      return undefined
  }
}

type Problem = readonly [path: string[], message: string]

function problemsOf(rule: z.infer<typeof Rule>): Problem[] {
  const problems: Problem[] = []
  if (rule.expiresAfterMs !== undefined && rule.effect !== "ask") {
    problems.push([["expiresAfterMs"], `only an ask expires, and this rule's effect is ${rule.effect}`])
  }
  if (rule.maxExtensions !== undefined && rule.expiresAfterMs === undefined) {
    problems.push([["maxExtensions"], "only what expires can be extended, and this rule has no expiresAfterMs"])
  }
  if (rule.atMost !== undefined && rule.effect !== "allow") {
    problems.push([["atMost"], `only an allow has a bound, and this rule's effect is ${rule.effect}`])
  }
  if (rule.fourEyes !== undefined && rule.effect !== "ask") {
    problems.push([["fourEyes"], `only an ask is answered by a person, and this rule's effect is ${rule.effect}`])
  }
  if (rule.message !== undefined && rule.effect !== "deny") {
    problems.push([["message"], `only a denial is told to the agent, and this rule's effect is ${rule.effect}`])
  }
  for (const [field, patterns] of Object.entries(rule.input ?? {})) {
    for (const source of [patterns].flat()) {
      const problem = problemOfPattern(rule.effect, field, source)
      if (problem !== undefined) problems.push([["input", field], problem])
    }
  }
  return problems
}

/** An allow that could never allow anything is a mistake worth telling. */
function problemOfPattern(effect: RuleEffect, field: string, source: string): string | undefined {
  if (field === "command" && effect === "allow") {
    const pattern = readPattern(source)
    if (pattern.ok) return undefined
    return `allows nothing because ${pattern.problem}; a pattern covers one simple command, one variable (A=*) or one redirection (> *), so write one for each`
  }
  if (PATH_FIELDS.has(field) && !isPlainPath(source)) {
    return "must not contain .. nor begin with ~: write the folder itself"
  }
  return undefined
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone !== ""
  } catch {
    return false
  }
}

function isPlainPath(value: string): boolean {
  return !value.split("/").includes("..") && !value.startsWith("~")
}

function describe(issue: Issue, value: unknown): string {
  const [first, index, ...rest] = issue.path
  if (first !== "rules" || typeof index !== "number") {
    return first === undefined ? `the policy: ${issue.message}` : `${issue.path.join(".")}: ${issue.message}`
  }
  const where = rest.length === 0 ? "" : ` ${rest.join(".")}:`
  return `rule ${index + 1}${nameOf(value, index)}:${where} ${issue.message}`
}

function nameOf(value: unknown, index: number): string {
  const rules = isObject(value) ? value["rules"] : undefined
  const id = Array.isArray(rules) ? textOf(rules[index], "id") : undefined
  return id === undefined ? "" : ` (${id.slice(0, 128)})`
}
