import { readFile } from "node:fs/promises"
import { SimulatorError } from "../simulator-error.ts"
import { checkScenario, type ScenarioProblem } from "./parse-scenario.ts"
import type { Scenario } from "./schema.ts"
import { readYaml, type YamlSource } from "./yaml.ts"

/** The scenario in a file, or a `scenario/invalid` that says file, line, and what is wrong. */
export async function readScenarioFile(path: string): Promise<Scenario> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new SimulatorError("scenario/invalid", `${path}: cannot be read`, { cause, details: { path, problems: [] } })
  })
  const source = readYaml(text)
  if (source.problems.length > 0) throw invalid(path, source.problems)
  const checked = checkScenario(source.value)
  if ("scenario" in checked) return checked.scenario
  throw invalid(path, located(checked.problems, source))
}

type Located = { line: number; message: string }

function located(problems: readonly ScenarioProblem[], source: YamlSource): Located[] {
  return problems.map(({ path, message }) => ({ line: source.lineOf(path), message: `${showPath(path)}: ${message}` }))
}

function showPath(path: readonly (string | number)[]): string {
  const shown = path.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("")
  return shown === "" ? "scenario" : shown.replace(/^\./, "")
}

function invalid(path: string, problems: readonly Located[]): SimulatorError {
  const lines = problems.map(({ line, message }) => `${path}:${line}: ${message}`)
  return new SimulatorError("scenario/invalid", lines.join("\n"), { details: { path, problems } })
}
