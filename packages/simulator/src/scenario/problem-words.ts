import { isObject } from "@signalbox/protocol/envelope"
import type { z } from "zod"

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

/** A place in the JSON schema, as far as keys are looked up in it. */
type Place = Readonly<Record<string, unknown>>

/** The keys that may stand in the object at this path, those of the kind its author had in mind first. */
export function keysAt(schema: Place, path: readonly (string | number)[], value: unknown): string[] {
  const places = path.reduce((found, key) => found.flatMap((place) => within(place, key)), [schema])
  const objects = places.flatMap(members).filter((place) => isObject(place["properties"]))
  const written = isObject(value) ? Object.keys(value) : []
  const meant = objects.filter((place) => written.includes(firstKey(place)))
  return [...new Set((meant.length > 0 ? meant : objects).flatMap(keysOf))]
}

function within(place: Place, key: string | number): Place[] {
  return members(place).flatMap((member) => {
    if (typeof key === "number") return placeIn(member["items"])
    const properties = member["properties"]
    const own = isObject(properties) ? properties[key] : undefined
    return placeIn(own ?? member["additionalProperties"])
  })
}

function placeIn(value: unknown): Place[] {
  return isObject(value) ? [value] : []
}

/** The kinds of a union; of anything else, itself. */
function members(place: Place): Place[] {
  const any = place["anyOf"]
  return Array.isArray(any) ? any.filter(isObject).flatMap(members) : [place]
}

function keysOf(place: Place): string[] {
  return Object.keys(isObject(place["properties"]) ? place["properties"] : {})
}

/** What tells a kind of step from the others stands first in it. */
function firstKey(place: Place): string {
  return keysOf(place)[0] ?? ""
}

/** The word that was probably meant, if one is near enough. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3))
  let best: { name: string; distance: number } | undefined
  for (const name of known) {
    const distance = name.toLowerCase() === word.toLowerCase() ? 0 : editDistance(word, name)
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name, distance }
  }
  return best?.name
}

/** Letters added, left out, changed, or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > a.length) return a.length
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const changes = [at(rows, i - 1, j) + 1, (row[j - 1] ?? 0) + 1, at(rows, i - 1, j - 1) + (same ? 0 : 1)]
      if (swapped) changes.push(at(rows, i - 2, j - 2) + 1)
      row.push(Math.min(...changes))
    }
    rows.push(row)
  }
  return at(rows, a.length, b.length)
}

function at(rows: readonly (readonly number[])[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0
}
