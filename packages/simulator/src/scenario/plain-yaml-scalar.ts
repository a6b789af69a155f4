/** Not in the part of YAML that is read here. */
export class NotPlain extends Error {}

/** The text ended before the value did. */
export class Unfinished extends NotPlain {}

const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/
/** Words and signs that YAML reads as something else than text, or may. */
const SPECIAL = /^(?:~|null|true|false|\.inf|\.nan|<<|=)$/i
const INDICATORS = new Set("-?:,[]{}#&*!|>'\"%@`".split(""))

/** A text without quotes: a number, a truth, nothing, or itself. */
export function plainScalar(text: string): unknown {
  if (text === "true") return true
  if (text === "false") return false
  if (text === "null") return null
  if (NUMBER.test(text)) return Object.is(Number(text), -0) ? notPlain() : Number(text)
  // One word that begins like a number: YAML knows more of them than this reader.
  if (text === "" || SPECIAL.test(text) || /^[-+.\d][^ ]*$/.test(text)) return notPlain()
  if (INDICATORS.has(text.charAt(0)) || /: |:$| #/.test(text)) return notPlain()
  return text
}

/** A text in quotes that begins here, and where it ends. */
export function quotedScalar(text: string, from: number): { value: string; end: number } {
  const pattern = text[from] === '"' ? /"(?:[^"\\]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*"/y : /'(?:[^']|'')*'/y
  pattern.lastIndex = from
  const found = pattern.exec(text)?.[0]
  if (found === undefined) return notPlain()
  const value: unknown = found.startsWith('"') ? JSON.parse(found) : found.slice(1, -1).replaceAll("''", "'")
  return { value: String(value), end: from + found.length }
}

function notPlain(): never {
  throw new NotPlain()
}
