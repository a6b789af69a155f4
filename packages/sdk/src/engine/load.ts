import { SdkError } from "../base/errors.ts"
import { isObject } from "../base/wire.ts"
import { captureOptions } from "../launch/capture.ts"
import { checkOptions, givenOptions, warnOfShadowedTools } from "../launch/check-options.ts"
import { requireExecutable } from "../launch/executable.ts"
import { type AgentStart, openAgent } from "../launch/open-agent.ts"
import type { Options, SpawnedProcess } from "../types/options.ts"
import type { QueryEngine } from "./query-engine.ts"

/**
 * Starts an agent. Throws at once for what can never work. The engine is loaded while the agent starts, which takes the
 * agent longer; only one that has to be prepared, by a session store or a hub, is started by the engine itself.
 */
export function startEngine(asked: Options, { start }: { start: AgentStart }): Promise<QueryEngine> {
  const captured = givenOptions(captureOptions(asked))
  // An agent that a store has to prepare starts later, and the program may have gone elsewhere by then.
  const options = captured.sessionStore === undefined ? captured : { ...captured, cwd: captured.cwd ?? process.cwd() }
  checkOptions(options)
  if (options.hub === undefined) requireExecutable(options)
  warnOfShadowedTools(options)
  const signal = options.abortController?.signal ?? new AbortController().signal
  const isPlain = options.hub === undefined && options.sessionStore === undefined
  const spawner = watchedSpawner(options)
  const agent = isPlain ? openAgent({ ...options, ...spawner.option }, { start, signal }) : undefined
  // Told by the engine, which is not there yet.
  agent?.catch(() => undefined)
  spawner.rethrow()
  const engine = import("./query-engine.ts").then((loaded) => new loaded.QueryEngine(options, { start, signal, agent }))
  // Without its engine nobody would ever end it.
  engine.catch(() => void agent?.then((link) => link.close("there is no engine")).catch(() => undefined))
  return engine
}

/** A spawner without types may give back anything: nothing, or the promise of a process. */
function requireProcess(given: SpawnedProcess): SpawnedProcess
function requireProcess(given: unknown): unknown {
  if (isObject(given) && isObject(given["stdin"]) && isObject(given["stdout"]) && typeof given["on"] === "function")
    return given
  // Its failure would be nobody's.
  if (given instanceof Promise) given.catch(() => undefined)
  const message =
    "spawnClaudeCodeProcess must return the process itself, with stdin, stdout and on(), not a promise of it"
  throw new SdkError("sdk/bad-option", message, { name: "TypeError", details: { option: "spawnClaudeCodeProcess" } })
}

/** An error of the program's own spawner is thrown to the one who began the query, as the official package does. */
function watchedSpawner({ spawnClaudeCodeProcess: spawn }: Options): {
  readonly option: Pick<Options, "spawnClaudeCodeProcess">
  readonly rethrow: () => void
} {
  if (spawn === undefined) return { option: {}, rethrow: () => undefined }
  let thrown: { readonly error: unknown } | undefined
  return {
    option: {
      spawnClaudeCodeProcess: (request) => {
        try {
          return requireProcess(spawn(request))
        } catch (error) {
          thrown = { error }
          throw error
        }
      },
    },
    rethrow: () => {
      if (thrown === undefined) return
      const { error } = thrown
      if (error instanceof SdkError) throw error
      throw new SdkError("process/spawn-failed", error instanceof Error ? error.message : String(error), {
        cause: error,
      })
    },
  }
}
