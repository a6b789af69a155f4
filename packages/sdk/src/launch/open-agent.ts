import {
  type ChildTransport,
  lineBatches,
  openChildProcess,
  type SpawnProcess,
} from "@signalbox/transport/child-process"
import type { Options } from "../types/options.ts"
import type { AgentLink } from "./agent-link.ts"
import { argumentsFor } from "./arguments.ts"
import { environmentFor } from "./environment.ts"
import { executableFor } from "./executable.ts"
import { startFailure } from "./failures.ts"
import { endWithUs } from "./live-processes.ts"

const GRACE_MS = 2000
const KILL_AFTER_MS = 5000

export type AgentStart = "now" | "warm" | "spare"

export interface OpenAgentOptions {
  /** With its prompt, ahead of it, or even before it is known which session it will be. */
  readonly start: AgentStart
  readonly signal: AbortSignal
}

/** Starts the agent at once: before this returns, and so before the rest of us is loaded. */
export async function openAgent(options: Options, { start, signal }: OpenAgentOptions): Promise<AgentLink> {
  const env = environmentFor(options, { isWarm: start !== "now" })
  try {
    const executable = executableFor(options, env)
    const child = await openChildProcess({
      command: executable.command,
      args: [...executable.args, ...argumentsFor(options), ...(start === "spare" ? ["--await-claim"] : [])],
      env,
      signal,
      graceMs: GRACE_MS,
      killAfterMs: KILL_AFTER_MS,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.stderr === undefined ? {} : { stderr: options.stderr }),
      ...spawnOption(options.spawnClaudeCodeProcess),
    })
    return linkOf(child)
  } catch (error) {
    throw startFailure(error, options.pathToClaudeCodeExecutable)
  }
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
    batches: lineBatches(child.lines),
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
