import { checkOptions, warnOfShadowedTools } from "../launch/check-options.ts"
import { requireExecutable } from "../launch/require-executable.ts"
import type { Options } from "../types/options.ts"
import type { EngineOptions, QueryEngine } from "./query-engine.ts"

let loading: Promise<typeof import("./query-engine.ts")> | undefined

/**
 * Starts an agent. Throws at once for what can never work; the engine itself is loaded with the first query, since
 * importing the package would take twice as long with it.
 */
export function startEngine(options: Options, engineOptions: EngineOptions): Promise<QueryEngine> {
  checkOptions(options)
  requireExecutable(options)
  warnOfShadowedTools(options)
  loading ??= import("./query-engine.ts")
  return loading.then(({ QueryEngine: Engine }) => new Engine(options, engineOptions))
}
