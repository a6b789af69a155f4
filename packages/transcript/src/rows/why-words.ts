import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"

/** Why the rules decided as they did, in the words of every view. The text is of strangers: show it as such. */
export interface WhyLines {
  /** The verdict in a sentence. */
  readonly reason: string
  /** The rules that had a say, and where they stand: `Rule 3, “no-push”`. */
  readonly place?: string
  /** The text that decided, between what stands around it. Without the request there is nothing around it, and it may be cut. */
  readonly part?: { readonly before: string; readonly text: string; readonly after: string }
  /** The change that would lead to another verdict: a sentence. */
  readonly change?: string
}

/**
 * Reads an ask, the details of an audit record, or a verdict with its request's input: each says it in `reason`, `why`
 * and `input`. Undefined where the hub did not say it: it had no rules, or is older.
 */
export function whyLines(told: unknown): WhyLines | undefined {
  const reason = textOf(told, "reason")
  const why = fieldOf(told, "why")
  if (reason === undefined || why === undefined) return undefined
  const place = placeWords(why["rules"])
  const part = partOf(why, fieldOf(told, "input"))
  const change = textOf(why, "change")
  return {
    reason,
    ...(place === "" ? {} : { place }),
    ...(part === undefined ? {} : { part }),
    ...(change === undefined ? {} : { change }),
  }
}

function placeWords(rules: unknown): string {
  const words = (Array.isArray(rules) ? rules : [])
    .filter(isObject)
    .map(({ id, place }) => (typeof place === "number" ? `rule ${place}, “${String(id)}”` : "a grant of this session"))
  const all = [...new Set(words)].join("; ")
  return all.slice(0, 1).toUpperCase() + all.slice(1)
}

function partOf(why: Readonly<Record<string, unknown>>, input: unknown): WhyLines["part"] {
  const whole = textOf(input, textOf(why, "field") ?? "")
  const { start, end } = fieldOf(why, "span") ?? {}
  const isInside = typeof start === "number" && typeof end === "number" && start >= 0 && start < end
  if (whole !== undefined && isInside && end <= whole.length)
    return { before: whole.slice(0, start), text: whole.slice(start, end), after: whole.slice(end) }
  const text = textOf(why, "text")
  return text === undefined || text === "" ? undefined : { before: "", text, after: "" }
}
