import { readFile } from "node:fs/promises"
import { SimulatorError } from "../simulator-error.ts"
import { quickScenario } from "./quick-scenario.ts"
import type { Scenario } from "./schema.ts"

/** The scenario in a file, or a `scenario/invalid` that says file, line, what is wrong and what would be right. */
export async function readScenarioFile(path: string): Promise<Scenario> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new SimulatorError("scenario/invalid", `${path}: cannot be read (${reasonOf(cause)})`, {
      cause,
      details: { path, problems: [] },
    })
  })
  const quick = await quickScenario(text)
  if (quick !== undefined) return quick
  // What explains a mistake takes longer to load than all the rest.
  const { readScenarioText } = await import("./scenario-text.ts")
  return readScenarioText(text, path)
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown"
  return code === "ENOENT" ? "there is no such file" : code
}
