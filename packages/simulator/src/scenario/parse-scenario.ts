import type { z } from "zod"
import { SimulatorError } from "../simulator-error.ts"
import { type Scenario, type Step, scenarioSchema } from "./schema.ts"

/** `path` is kept as keys, so that a reader of files can find the line. */
export type ScenarioProblem = { path: (string | number)[]; message: string }

type Issue = z.core.$ZodIssue

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
  if (!parsed.success) return { problems: parsed.error.issues.flatMap((issue) => problemsOf(issue, [])) }
  const misplaced = parsed.data.turns.flatMap((turn, index) => misplacedSteps(turn.steps, ["turns", index, "steps"]))
  return misplaced.length > 0 ? { problems: misplaced } : { scenario: parsed.data }
}

function invalid(problems: ScenarioProblem[]): SimulatorError {
  const lines = problems.map(({ path, message }) => `  ${showPath(path)}: ${message}`)
  return new SimulatorError("scenario/invalid", `The scenario is not valid:\n${lines.join("\n")}`, {
    details: { problems },
  })
}

function showPath(path: readonly (string | number)[]): string {
  const shown = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("")
  return shown === "" ? "scenario" : shown.replace(/^\./, "")
}

function problemsOf(issue: Issue, base: ScenarioProblem["path"]): ScenarioProblem[] {
  // A path of parsed JSON holds no symbols.
  const path = [...base, ...issue.path.filter((key) => typeof key !== "symbol")]
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: [...path, key], message: "unknown key" }))
  if (issue.code === "invalid_union") {
    const branch = meantBranch(issue.errors)
    return branch === undefined
      ? [{ path, message: issue.message }]
      : branch.flatMap((inner) => problemsOf(inner, path))
  }
  return [{ path, message: issue.message.replace(/^Invalid input: /, "") }]
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

const MISPLACED_ERROR =
  "an error answers a call instead of a reply: put it before the text or after a tool, or use streamError"
const MISPLACED_COMPACTION = "the history is compacted between calls: put it before the text or after a tool"

/** An HTTP error comes instead of a reply; after text has begun it can only be an error inside the stream. */
function misplacedSteps(steps: readonly Step[], path: ScenarioProblem["path"]): ScenarioProblem[] {
  return steps.flatMap((step, index) => {
    const before = steps[index - 1]
    const speaking = before !== undefined && ("say" in before || "think" in before)
    if (!speaking) return []
    if ("error" in step) return [{ path: [...path, index], message: MISPLACED_ERROR }]
    return "compact" in step ? [{ path: [...path, index], message: MISPLACED_COMPACTION }] : []
  })
}
