import { z } from "zod"
import { SimulatorError } from "../simulator-error.ts"
import { misplacedSteps, type ScenarioProblem } from "./calls.ts"
import { keysAt, unknownKey, unknownKind, wordsFor } from "./problem-words.ts"
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

/** The same without references, to walk along a path. */
function scenarioPlaces(): Record<string, unknown> {
  return { ...z.toJSONSchema(scenarioSchema) }
}
