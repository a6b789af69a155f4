import type { z } from "zod"
import { nearest } from "./nearest.ts"

// What is wrong, and what would be right, in words for whoever wrote the scenario.

type Issue = z.core.$ZodIssue

const KINDS: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
}
const MAX_SHOWN = 40

export function unknownKey(key: string, known: readonly string[]): string {
  if (known.includes(key)) return "does not go with the other keys here: make it a step of its own, or take it out"
  const meant = nearest(key, known)
  if (meant !== undefined) return `unknown key: did you mean "${meant}"?`
  return known.length === 0 ? "unknown key" : `unknown key: the keys here are ${known.join(", ")}`
}

/** `found` is what stands in the file. */
export function wordsFor(issue: Issue, found: unknown): string {
  if (issue.code === "invalid_type") return shouldBe(KINDS[issue.expected] ?? issue.expected, found)
  if (issue.code === "invalid_value") return notInList(issue.values.map(String), found)
  if (issue.code === "too_small") return tooSmall(issue, found)
  if (issue.code === "too_big") return `must be at most ${String(issue.maximum)}, not ${shown(found)}`
  return issue.message.replace(/^Invalid input: /, "")
}

function notInList(values: readonly string[], found: unknown): string {
  const wrong = shouldBe(values.length === 1 ? values.join("") : `one of ${values.join(", ")}`, found)
  const meant = typeof found === "string" ? nearest(found, values) : undefined
  return meant === undefined ? wrong : `${wrong}. Did you mean ${meant}?`
}

function tooSmall(issue: Extract<Issue, { code: "too_small" }>, found: unknown): string {
  if (issue.origin === "array") return "must have at least one item"
  if (issue.origin === "string") return "must not be empty"
  return `must be at least ${String(issue.minimum)}, not ${shown(found)}`
}

function shouldBe(what: string, found: unknown): string {
  return found === undefined ? `is missing: must be ${what}` : `must be ${what}, not ${shown(found)}`
}

function shown(value: unknown): string {
  if (value === null) return "empty"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "object") return "an object"
  const text = JSON.stringify(value) ?? typeof value
  const short = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
  return typeof value === "string" ? `the text ${short}` : short
}

/** A step of no known kind: which one its key resembles. */
export function unknownKind(message: string, found: unknown, kinds: readonly string[]): string {
  if (typeof found !== "object" || found === null) return `${message}, not ${shown(found)}`
  for (const key of Object.keys(found)) {
    const meant = nearest(key, kinds)
    if (meant !== undefined && meant !== key) return `${message}. Did you mean "${meant}" instead of "${key}"?`
  }
  return message
}
