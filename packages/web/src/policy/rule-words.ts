import { isObject, textOf } from "@signalbox/protocol/envelope"
import { waitWords } from "../asks/request-words.ts"
import { plural } from "../design/words.ts"

/** A rule as the hub tells it. The policy package owns its schema; a field that is unknown here is shown as it is. */
export type Rule = Readonly<Record<string, unknown>>
export type Effect = "deny" | "ask" | "allow"

interface EffectWords {
  readonly effect: Effect
  /** The verb of a rule. */
  readonly verb: string
  /** The outcome, as a heading. */
  readonly outcome: string
  readonly look: string
}

/** The strongest first: deny beats ask, ask beats allow. */
export const EFFECTS: readonly EffectWords[] = [
  { effect: "deny", verb: "Deny", outcome: "Denied", look: "text-danger" },
  { effect: "ask", verb: "Ask about", outcome: "A person decides", look: "text-caution" },
  { effect: "allow", verb: "Allow", outcome: "Allowed", look: "text-clear" },
]

export function effectOf(value: unknown): Effect {
  return EFFECTS.find(({ effect }) => effect === value)?.effect ?? "ask"
}

export function wordsOfEffect(value: unknown): EffectWords {
  const effect = effectOf(value)
  return EFFECTS.find((words) => words.effect === effect) ?? { effect, verb: "", outcome: "", look: "" }
}

export function nameOf(rule: Rule): string {
  return textOf(rule, "id") ?? ""
}

/** Part of a sentence: words, or code to be read letter by letter. */
export type Phrase = string | { readonly code: string }

/** A rule as a sentence, with everything in it that narrows it. */
export function sentenceOf(rule: Rule): readonly Phrase[] {
  const tool = textOf(rule, "tool")
  const { id: _id, effect, tool: _tool, input, reason: _reason, message: _message, ...limits } = rule
  return joined([
    `${wordsOfEffect(effect).verb} `,
    tool === undefined ? "any tool" : { code: tool },
    ...conditionsOf(input),
    ...Object.entries(limits)
      .sort(([a], [b]) => placeOf(a) - placeOf(b))
      .flatMap(([name, value]) => limitWords(name, value)),
    ".",
  ])
}

const FIELD_WORDS: ReadonlyMap<string, string> = new Map([
  ["command", "the command"],
  ["file_path", "the file"],
  ["notebook_path", "the notebook"],
  ["path", "the path"],
  ["url", "the URL"],
])

function fieldWords(field: string): Phrase {
  return FIELD_WORDS.get(field) ?? { code: field }
}

function conditionsOf(input: unknown): readonly Phrase[] {
  if (!isObject(input)) return []
  return Object.entries(input).flatMap(([field, value], index) => {
    const patterns = patternsOf(value)
    const verb = patterns.some(hasStar) ? " matches " : " is "
    return [index === 0 ? " when " : " and ", fieldWords(field), verb, ...listed(patterns, " or ")]
  })
}

/** One pattern or several for a field; any of them fits. */
export function patternsOf(value: unknown): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map((pattern) =>
    typeof pattern === "string" ? pattern : JSON.stringify(pattern),
  )
}

function listed(codes: readonly string[], between: string): readonly Phrase[] {
  return codes.flatMap((code, index) => (index === 0 ? [{ code }] : [between, { code }]))
}

/** A star that is not escaped stands for any text. */
function hasStar(pattern: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*\*/.test(pattern)
}

const PLACES: ReadonlyMap<string, string> = new Map([
  ["cwd", ", in "],
  ["session", ", in session "],
  ["mode", ", in mode "],
  ["runner", ", on machine "],
  ["branch", ", on branch "],
  ["until", ", until "],
])

const LIMITS = [...PLACES.keys(), "hours", "atMost", "expiresAfterMs", "maxExtensions", "fourEyes"]

/** Where a limit stands in the sentence, however the rule was written; an unknown one at the end. */
function placeOf(name: string): number {
  const place = LIMITS.indexOf(name)
  return place === -1 ? LIMITS.length : place
}

function limitWords(name: string, value: unknown): readonly Phrase[] {
  const place = PLACES.get(name)
  if (place !== undefined) return [place, ...listed(patternsOf(value), " or ")]
  if (name === "expiresAfterMs" && typeof value === "number") return [`, for ${waitWords(value)} at most`]
  if (name === "maxExtensions" && typeof value === "number") {
    return [value === 0 ? ", without more time" : `, with more time up to ${plural(value, "time")}`]
  }
  if (name === "fourEyes") return value === true ? [", allowed only by someone who didn't start the session"] : []
  if (name === "atMost" && isObject(value) && typeof value["count"] === "number") {
    return [`, at most ${plural(value["count"], "time")} per ${textOf(value, "per") ?? "session"}`]
  }
  if (name === "hours" && isObject(value)) {
    const { days } = value
    const on = Array.isArray(days) ? ` on ${days.join(", ")}` : ""
    return [
      `, from ${textOf(value, "from") ?? "…"} to ${textOf(value, "to") ?? "…"}${on} (${textOf(value, "zone") ?? "UTC"})`,
    ]
  }
  return [", with ", { code: `${name}: ${JSON.stringify(value)}` }]
}

/** Neighbouring words become one phrase. */
function joined(phrases: readonly Phrase[]): readonly Phrase[] {
  return phrases.reduce<readonly Phrase[]>((all, phrase) => {
    const last = all.at(-1)
    if (typeof last !== "string" || typeof phrase !== "string") return [...all, phrase]
    return [...all.slice(0, -1), last + phrase]
  }, [])
}
