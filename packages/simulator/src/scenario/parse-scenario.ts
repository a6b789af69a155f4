import type { z } from "zod"
import { SimulatorError } from "../simulator-error.ts"
import { scenarioPlaces } from "./json-schema.ts"
import { keysAt } from "./known-keys.ts"
import { misplacedSteps, type ScenarioProblem } from "./misplaced-steps.ts"
import { unknownKey, unknownKind, wordsFor } from "./problem-words.ts"
import { type Scenario, scenarioSchema } from "./schema.ts"

export type { ScenarioProblem } from "./misplaced-steps.ts"

type Issue = z.core.$ZodIssue
type Path = ScenarioProblem["path"]

/**
 * The scenario, or a `scenario/invalid` error that names every wrong place, as in `turns[0].steps[2].input: …`.
 */
export function parseScenario(value: unknown): Scenario {
  const checked = checkScenario(value)
  if ("scenario" in checked) return checked.scenario
  throw invalid(checked.problems)
}

/** The scenario, or everything that is wrong with it. */
export function checkScenario(value: unknown): { scenario: Scenario } | { problems: ScenarioProblem[] } {
  const parsed = scenarioSchema.safeParse(value)
  if (!parsed.success) return { problems: explain(value, parsed.error.issues) }
  const misplaced = misplacedSteps(parsed.data)
  return misplaced.length > 0 ? { problems: misplaced } : { scenario: parsed.data }
}

function invalid(problems: ScenarioProblem[]): SimulatorError {
  const lines = problems.map(({ path, message }) => `  ${showPath(path)}: ${message}`)
  return new SimulatorError("scenario/invalid", `The scenario is not valid:\n${lines.join("\n")}`, {
    details: { problems },
  })
}

export function showPath(path: readonly (string | number)[]): string {
  const shown = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("")
  return shown === "" ? "scenario" : shown.replace(/^\./, "")
}

function explain(root: unknown, issues: readonly Issue[]): ScenarioProblem[] {
  const schema = scenarioPlaces()
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

/** What is missing only because its key is misspelt needs no second word. */
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
