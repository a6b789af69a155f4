import { checkOptions, warnOfShadowedTools } from "../launch/check-options.ts"
import { requireExecutable } from "../launch/executable.ts"
import { type AgentStart, openAgent } from "../launch/open-agent.ts"
import type { Options } from "../types/options.ts"
import type { QueryEngine } from "./query-engine.ts"

/**
 * Starts an agent. Throws at once for what can never work. The engine is loaded while the agent starts, which takes the
 * agent longer; only one that has to be prepared, by a session store or a hub, is started by the engine itself.
 */
export function startEngine(options: Options, { start }: { start: AgentStart }): Promise<QueryEngine> {
  checkOptions(options)
  if (options.hub === undefined) requireExecutable(options)
  warnOfShadowedTools(options)
  const signal = options.abortController?.signal ?? new AbortController().signal
  const isPlain = options.hub === undefined && options.sessionStore === undefined
  const agent = isPlain ? openAgent(options, { start, signal }) : undefined
  // Told by the engine, which is not there yet.
  agent?.catch(() => undefined)
  return import("./query-engine.ts").then((engine) => new engine.QueryEngine(options, { start, signal, agent }))
}
