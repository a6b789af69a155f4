import { isObject, textOf } from "@signalbox/protocol/envelope"
import { type Effect, effectOf, nameOf, patternsOf, type Rule } from "./rule-words.ts"

/** Patterns for one field of a tool's input, one a line. */
export interface Condition {
  readonly field: string
  readonly patterns: string
}

const TEXTS = ["id", "tool", "cwd", "branch", "runner", "mode", "session", "until", "reason", "message"] as const
export type TextName = (typeof TEXTS)[number]

/** The days of a rule's hours, as the policy names them. */
export const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const

/** When a rule holds: from a time of day to another, which may be on the next day. Empty: at any time. */
interface Hours {
  readonly from: string
  readonly to: string
  readonly zone: string
  /** Days on which it begins; none means all. */
  readonly days: readonly string[]
}

/** A rule while it is edited. */
export interface RuleForm {
  readonly effect: Effect
  readonly texts: Readonly<Record<TextName, string>>
  readonly conditions: readonly Condition[]
  readonly hours: Hours
  /** Asks only: minutes until the request expires, and how often a person may put that off. */
  readonly minutes: string
  readonly extensions: string
  /** Asks only: whoever started the session may not answer. */
  readonly fourEyes: boolean
  /** Allows only: how often, in a session or a day. */
  readonly count: string
  readonly per: "session" | "day"
  /** Fields that have no control here are kept as they are. */
  readonly rest: Rule
}

const MINUTE_MS = 60_000

export function formOf(rule: Rule): RuleForm {
  const { effect, input, hours, expiresAfterMs, maxExtensions, fourEyes, atMost, ...others } = rule
  const texts = (name: TextName) => textOf(rule, name) ?? ""
  const bound = isObject(atMost) ? atMost : {}
  const known: readonly string[] = TEXTS
  return {
    effect: effectOf(effect),
    texts: {
      id: texts("id"),
      tool: texts("tool"),
      cwd: texts("cwd"),
      branch: texts("branch"),
      runner: texts("runner"),
      mode: texts("mode"),
      session: texts("session"),
      until: texts("until"),
      reason: texts("reason"),
      message: texts("message"),
    },
    conditions: Object.entries(isObject(input) ? input : {}).map(([field, value]) => ({
      field,
      patterns: patternsOf(value).join("\n"),
    })),
    hours: hoursOf(isObject(hours) ? hours : {}),
    minutes: typeof expiresAfterMs === "number" ? String(expiresAfterMs / MINUTE_MS) : "",
    extensions: typeof maxExtensions === "number" ? String(maxExtensions) : "",
    fourEyes: fourEyes === true,
    count: typeof bound["count"] === "number" ? String(bound["count"]) : "",
    per: bound["per"] === "day" ? "day" : "session",
    rest: Object.fromEntries(Object.entries(others).filter(([name]) => !known.includes(name))),
  }
}

function hoursOf(hours: Readonly<Record<string, unknown>>): Hours {
  const days: readonly unknown[] = Array.isArray(hours["days"]) ? hours["days"] : []
  return {
    from: textOf(hours, "from") ?? "",
    to: textOf(hours, "to") ?? "",
    zone: textOf(hours, "zone") ?? "",
    days: DAYS.filter((day) => days.includes(day)),
  }
}

function saidHours({ hours: { from, to, zone, days } }: RuleForm): Rule {
  if (from + to === "" && days.length === 0) return {}
  const texts = Object.entries({ from, to, zone: zone.trim() }).filter(([, text]) => text !== "")
  return { hours: { ...Object.fromEntries(texts), ...(days.length === 0 ? {} : { days }) } }
}

/** The rule that a form says. Fields that do not go with its effect are left out. */
export function ruleOf(form: RuleForm): Rule {
  const { effect, texts, conditions, rest } = form
  const input = Object.fromEntries(
    conditions.flatMap(({ field, patterns }) => {
      const lines = linesOf(patterns)
      return field.trim() === "" || lines.length === 0 ? [] : [[field.trim(), lines.length === 1 ? lines[0] : lines]]
    }),
  )
  const said = Object.fromEntries(
    TEXTS.flatMap((name) => {
      const text = texts[name].trim()
      return text === "" || (name === "message" && effect !== "deny") ? [] : [[name, text]]
    }),
  )
  const { id, tool, ...others } = said
  return {
    ...(id === undefined ? {} : { id }),
    effect,
    ...(tool === undefined ? {} : { tool }),
    ...(Object.keys(input).length === 0 ? {} : { input }),
    ...others,
    ...saidHours(form),
    ...(effect === "ask" ? askLimits(form) : {}),
    ...(effect === "allow" && form.count.trim() !== "" ? { atMost: { count: Number(form.count), per: form.per } } : {}),
    ...rest,
  }
}

function askLimits({ minutes, extensions, fourEyes }: RuleForm): Rule {
  return {
    ...(minutes.trim() === "" ? {} : { expiresAfterMs: Math.round(Number(minutes) * MINUTE_MS) }),
    ...(extensions.trim() === "" ? {} : { maxExtensions: Number(extensions) }),
    ...(fourEyes ? { fourEyes } : {}),
  }
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.trim() !== "")
}

/** Problems by the field they belong to: `tool`, `input.command`, … An empty name: to the rule as a whole. */
export type Problems = ReadonlyMap<string, string>

/** Problems that can be told without the hub. `taken`: names of the other rules. */
export function problemsIn(form: RuleForm, taken: ReadonlySet<string>): Problems {
  const { texts, conditions, effect } = form
  const name = texts.id.trim()
  const found = new Map<string, string>()
  if (name === "") found.set("id", "Enter a name.")
  else if (taken.has(name)) found.set("id", "Another rule has this name.")
  for (const [index, { field, patterns }] of conditions.entries()) {
    const isTwice = conditions.findIndex((other) => other.field.trim() === field.trim()) < index
    if (field.trim() === "") found.set(fieldKey(index), "Enter the name of an input field.")
    else if (isTwice) found.set(fieldKey(index), "This field has a condition already. Add a line there.")
    else if (linesOf(patterns).length === 0)
      found.set(`input.${field.trim()}`, "Enter a pattern, or remove the condition.")
  }
  const { from, to, days } = form.hours
  if ((from === "" || to === "") && from + to + days.join("") !== "")
    found.set("hours", "Enter both times. 00:00 to 00:00 is the whole day.")
  else if (from !== "" && from === to && !(from === "00:00" && days.length > 0))
    found.set("hours", "Enter two different times, or leave both empty for all day.")
  if (effect === "ask" && !isAmount(form.minutes, 0)) found.set("expiresAfterMs", "Enter minutes, such as 10.")
  if (effect === "ask" && !isCount(form.extensions, 0)) found.set("maxExtensions", "Enter a whole number, such as 3.")
  if (effect === "allow" && !isCount(form.count, 1)) found.set("atMost", "Enter a whole number, such as 20.")
  return found
}

/** The key under which a condition's field name has its own problem. */
export function fieldKey(index: number): string {
  return `field.${index}`
}

/** Empty is fine: the rule then has no such limit. */
function isAmount(text: string, over: number): boolean {
  const value = Number(text)
  return text.trim() === "" || (Number.isFinite(value) && value > over)
}

function isCount(text: string, least: number): boolean {
  return isAmount(text, least - 1) && Number.isInteger(Number(text))
}

/** The hub's sentences, each where it belongs: `rule 3 (no-push): input.command: allows nothing because …` */
export function hubProblems(problems: readonly string[], rule: Rule, index: number): Problems {
  const found = new Map<string, string>()
  const name = nameOf(rule)
  const start = `rule ${index + 1}${name === "" ? "" : ` (${name.slice(0, 128)})`}: `
  const fields = Object.keys(isObject(rule["input"]) ? rule["input"] : {})
  const limits = ["hours.zone", "hours", "expiresAfterMs", "maxExtensions", "atMost", "fourEyes"]
  const keys = [...fields.map((field) => `input.${field}`), ...TEXTS, ...limits]
  for (const problem of problems) {
    const own = problem.startsWith(start) ? problem.slice(start.length) : problem
    const key = keys.find((one) => own.startsWith(`${one}: `) || own.startsWith(`${one}.`)) ?? ""
    const words = key === "" ? own : own.slice(key.length).replace(/^(?:\.\w+)*: /, "")
    const before = found.get(key)
    found.set(key, before === undefined ? words : `${before}; ${words}`)
  }
  return found
}

/** A name for a rule that nobody named yet: from its tool and the first words of its patterns. */
export function namedAfter(rule: Rule, taken: ReadonlySet<string>): string {
  const [first = ""] = Object.values(isObject(rule["input"]) ? rule["input"] : {}).flatMap(patternsOf)
  const words = `${textOf(rule, "tool") ?? "any"} ${first}`.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const base = words.slice(0, 4).join("-").slice(0, 60)
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}-${count}`
    if (!taken.has(name)) return name
  }
}
