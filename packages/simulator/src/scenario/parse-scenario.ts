import { fieldOf, isObject } from "@signalbox/protocol/envelope"
import { z } from "zod"
import { objectsIn } from "../json.ts"
import { SimulatorError } from "../simulator-error.ts"
import { misplacedSteps, type ScenarioProblem } from "./calls.ts"
import { type Scenario, scenarioSchema } from "./schema.ts"

export type { ScenarioProblem } from "./calls.ts"

type Issue = z.core.$ZodIssue
type Path = ScenarioProblem["path"]

/**
 * The scenario, or a `scenario/invalid` error that names every wrong place, as in `turns[0].steps[2].input: …`.
 */
export function parseScenario(value: unknown): Scenario {
  const checked = checkScenario(value)
  if ("scenario" in checked) return checked.scenario
  const lines = checked.problems.map(({ path, message }) => `  ${showPath(path)}: ${message}`)
  const { problems } = checked
  throw new SimulatorError("scenario/invalid", `The scenario is not valid:\n${lines.join("\n")}`, {
    details: { problems },
  })
}

/** The scenario, or everything that is wrong with it. */
export function checkScenario(value: unknown): { scenario: Scenario } | { problems: ScenarioProblem[] } {
  const parsed = scenarioSchema.safeParse(value)
  if (!parsed.success) return { problems: explain(value, parsed.error.issues) }
  const misplaced = misplacedSteps(parsed.data)
  return misplaced.length > 0 ? { problems: misplaced } : { scenario: parsed.data }
}

function showPath(path: readonly (string | number)[]): string {
  const shown = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("")
  return shown === "" ? "scenario" : shown.replace(/^\./, "")
}

function explain(root: unknown, issues: readonly Issue[]): ScenarioProblem[] {
  // Without references, to walk along a path.
  const schema = { ...z.toJSONSchema(scenarioSchema) }
  const flat = issues.flatMap((issue) => leavesOf(issue, []))
  const problems = flat.flatMap(({ issue, path }): ScenarioProblem[] => {
    const found = valueAt(root, path)
    if (issue.code === "unrecognized_keys") {
      const known = keysAt(schema, path, found)
      return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, known) }))
    }
    if (issue.code === "invalid_union") {
      return [{ path, message: unknownKind(issue.message, found, keysAt(schema, path, undefined)) }]
    }
    return [{ path, message: wordsFor(issue, found) }]
  })
  return problems.filter((problem) => !isMisspelt(problem, problems))
}

/** A key that is missing only because it is misspelt needs no second word. */
function isMisspelt({ path, message }: ScenarioProblem, problems: readonly ScenarioProblem[]): boolean {
  if (!message.startsWith("is missing")) return false
  const [place, key] = [showPath(path.slice(0, -1)), path.at(-1)]
  return problems.some(
    (other) => showPath(other.path.slice(0, -1)) === place && other.message.endsWith(`did you mean "${key}"?`),
  )
}

/** The issues behind an issue: a union tells those of the member that was meant. */
function leavesOf(issue: Issue, base: Path): { issue: Issue; path: Path }[] {
  // A path of parsed JSON holds no symbols.
  const path = [...base, ...issue.path.filter((key) => typeof key !== "symbol")]
  if (issue.code !== "invalid_union") return [{ issue, path }]
  const branch = meantBranch(issue.errors)
  return branch === undefined ? [{ issue, path }] : branch.flatMap((inner) => leavesOf(inner, path))
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== "object" || value === null) return undefined
    return Object.entries(value).find(([name]) => name === String(key))?.[1]
  }, root)
}

/** The member of a union the author had in mind: the one with clearly the fewest problems. None if two are as near. */
function meantBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const ranked = branches
    .filter((issues) => !issues.some((issue) => issue.path.length === 0 && issue.code !== "unrecognized_keys"))
    .map((issues) => ({ issues, weight: issues.reduce((sum, issue) => sum + weight(issue), 0) }))
    .toSorted((a, b) => a.weight - b.weight)
  const [best, next] = ranked
  if (best === undefined) return undefined
  return next === undefined || best.weight < next.weight ? best.issues : undefined
}

function weight(issue: Issue): number {
  return issue.code === "unrecognized_keys" ? issue.keys.length : 1
}

/** One that is wrong everywhere is told by its first mistakes. */
const MAX_TOLD = 20

/** The scenario in a text, or a `scenario/invalid` that tells all its mistakes; `path` is what it is called in them. */
export async function readScenarioText(text: string, path: string): Promise<Scenario> {
  const { readYaml } = await import("./yaml.ts")
  const source = readYaml(text)
  if (source.problems.length > 0) throw invalid(path, source.problems)
  if (source.value === null || source.value === undefined) throw invalid(path, [{ line: 1, message: EMPTY }])
  const checked = checkScenario(source.value)
  if ("scenario" in checked) return checked.scenario
  const problems = checked.problems.map(({ path: keys, message }) => ({
    line: source.lineOf(keys),
    message: `${showPath(keys)}: ${message}`,
  }))
  throw invalid(
    path,
    problems.toSorted((a, b) => a.line - b.line),
  )
}

type Located = { line: number; message: string }

const EMPTY = "the file is empty: the least there can be is `turns: [{ steps: [{ say: Hello. }] }]`"

function invalid(path: string, problems: readonly Located[]): SimulatorError {
  const told = problems.slice(0, MAX_TOLD).map(({ line, message }) => `${path}:${line}: ${message}`)
  const more = problems.length > MAX_TOLD ? [`${path}: and ${problems.length - MAX_TOLD} more`] : []
  return new SimulatorError("scenario/invalid", [...told, ...more].join("\n"), { details: { path, problems } })
}

/** The scenario language for editors and other programs, as it is published in `schema/scenario.schema.json`. */
export function scenarioJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(scenarioSchema, { reused: "ref" })
  return {
    $schema,
    title: "A scenario for claude-sim",
    description: "What the model does, turn by turn. See docs/simulator.md.",
    ...schema,
  }
}

// Words for the author of a scenario: what is wrong, and what would be right.

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

function unknownKey(key: string, known: readonly string[]): string {
  if (known.includes(key)) return "does not go with the other keys here: make it a step of its own, or take it out"
  const meant = nearest(key, known)
  if (meant !== undefined) return `unknown key: did you mean "${meant}"?`
  return known.length === 0 ? "unknown key" : `unknown key: the keys here are ${known.join(", ")}`
}

/** `found` is what stands in the file. */
function wordsFor(issue: Issue, found: unknown): string {
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
function unknownKind(message: string, found: unknown, kinds: readonly string[]): string {
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
function keysAt(schema: Place, path: readonly (string | number)[], value: unknown): string[] {
  const places = path.reduce((found, key) => found.flatMap((place) => within(place, key)), [schema])
  const objects = places.flatMap(members).filter((place) => isObject(place["properties"]))
  const written = isObject(value) ? Object.keys(value) : []
  // The key that tells a kind of step from the others stands first in it.
  const meant = objects.filter((place) => written.includes(keysOf(place)[0] ?? ""))
  return [...new Set((meant.length > 0 ? meant : objects).flatMap(keysOf))]
}

function within(place: Place, key: string | number): Place[] {
  return members(place).flatMap((member) => {
    const own = typeof key === "number" ? member["items"] : fieldOf(member, "properties")?.[key]
    return objectsIn([own ?? member["additionalProperties"]])
  })
}

/** The kinds of a union; of anything else, itself. */
function members(place: Place): Place[] {
  const any = place["anyOf"]
  return Array.isArray(any) ? objectsIn(any).flatMap(members) : [place]
}

function keysOf(place: Place): string[] {
  return Object.keys(fieldOf(place, "properties") ?? {})
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
