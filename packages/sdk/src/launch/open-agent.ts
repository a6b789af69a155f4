import { type ChildTransport, openChildProcess, type SpawnProcess } from "@signalbox/transport/process"
import type { Options } from "../types/options.ts"
import type { AgentLink } from "./agent-link.ts"
import { argumentsFor } from "./arguments.ts"
import { environmentFor } from "./environment.ts"
import { type Executable, executableFor } from "./executable.ts"
import { startFailure } from "./failures.ts"
import { endWithUs } from "./live-processes.ts"

const GRACE_MS = 2000
const KILL_AFTER_MS = 5000

export interface OpenAgentOptions {
  readonly isWarm: boolean
  readonly signal: AbortSignal
}

/**
 * Starts the agent at once. Throws when there is none to be found anywhere; any other failure is the promise's, as in the
 * official package.
 */
export function openAgent(options: Options, { isWarm, signal }: OpenAgentOptions): Promise<AgentLink> {
  const env = environmentFor(options, { isWarm })
  const args = argumentsFor(options)
  const path = options.pathToClaudeCodeExecutable
  let executable: Executable
  try {
    executable = executableFor(options, env)
  } catch (error) {
    const failure = startFailure(error, path)
    if (path === undefined) throw failure
    return Promise.reject(failure)
  }
  const opened = openChildProcess({
    command: executable.command,
    args: [...executable.args, ...args],
    env,
    signal,
    graceMs: GRACE_MS,
    killAfterMs: KILL_AFTER_MS,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.stderr === undefined ? {} : { stderr: options.stderr }),
    ...spawnOption(options.spawnClaudeCodeProcess),
  })
  return opened.then(linkOf, (error: unknown) => {
    throw startFailure(error, path)
  })
}

function spawnOption(spawn: Options["spawnClaudeCodeProcess"]): { spawn?: SpawnProcess } {
  if (spawn === undefined) return {}
  return {
    spawn: ({ command, args, cwd, env, signal }) => spawn({ command, args, cwd, env: { ...env }, signal }),
  }
}

function linkOf(child: ChildTransport): AgentLink {
  const release = endWithUs((signal) => child.kill(signal))
  void child.closed.then(release)
  return {
    lines: child.lines,
    closed: child.closed,
    send: (line) => child.send(line),
    endInput: () => child.endInput(),
    close: (reason) => child.close(reason),
    terminate(reason) {
      const gone = child.close(reason)
      child.kill("SIGTERM")
      return gone
    },
  }
}
