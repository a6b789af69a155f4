import { SimulatorError } from "../simulator-error.ts"
import { checkScenario, showPath } from "./parse-scenario.ts"
import type { Scenario } from "./schema.ts"
import { readYaml } from "./yaml.ts"

/** One that is wrong everywhere is told by its first mistakes. */
const MAX_TOLD = 20

/** The scenario in a text, or a `scenario/invalid` that tells all its mistakes; `path` is what it is called in them. */
export function readScenarioText(text: string, path: string): Scenario {
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
