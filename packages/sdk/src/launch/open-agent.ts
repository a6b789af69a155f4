import {
  type ChildTransport,
  lineBatches,
  openChildProcess,
  type SpawnProcess,
} from "@signalbox/transport/child-process"
import type { Closed } from "@signalbox/transport/process"
import type { SdkError } from "../base/errors.ts"
import { defined } from "../base/wire.ts"
import type { Options } from "../types/options.ts"
import { environmentFor, executableFor } from "./executable.ts"
import { startFailure } from "./failures.ts"
import { argumentsFor } from "./flags.ts"

/** As a transport's end; an `SdkError` is what the program is to be told, as it is. */
export type LinkEnd = Closed | { readonly by: "us" | "peer"; readonly reason: string; readonly error: SdkError }

/**
 * The one seam between a query and its agent, wherever that runs. A process here is one; an agent of a hub is
 * another.
 */
export interface AgentLink {
  /** The agent's lines, as many as are there at a time, for one reader; they end, and never throw, when the link is over. */
  readonly batches: AsyncIterable<readonly string[]>
  /** Resolves once, when the link is over, and never rejects. */
  readonly closed: Promise<LinkEnd>
  /** Resolves when the line has been taken; waiting for it is what bounds memory. */
  send(line: string): Promise<void>
  /** No more lines will be sent. The agent is left to finish, and may say a whole turn yet. */
  endInput(): void
  /** Ends the agent: its input first, a while to finish, then by force. Resolves when it is gone. */
  close(reason: string): Promise<void>
  /** As `close`, without the while. */
  terminate(reason: string): Promise<void>
}

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
  const { cwd, stderr, spawnClaudeCodeProcess: spawn } = options
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
      ...defined({ cwd, stderr, spawn: spawn && spawnerOf(spawn) }),
    })
    return linkOf(child)
  } catch (error) {
    throw startFailure(error, options.pathToClaudeCodeExecutable)
  }
}

function spawnerOf(spawn: NonNullable<Options["spawnClaudeCodeProcess"]>): SpawnProcess {
  return ({ command, args, cwd, env, signal }) => spawn({ command, args, cwd, env: { ...env }, signal })
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

/**
 * Agents run in process groups of their own, so that all of a group can be ended. The price: the terminal's Ctrl-C does
 * not reach them. They are ended here when this process is, however that comes about, short of KILL.
 */
type End = (signal: NodeJS.Signals) => void

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const
const live = new Set<End>()

/** Returns what takes the process off the list again. */
function endWithUs(end: End): () => void {
  if (live.size === 0) listen()
  live.add(end)
  return () => {
    if (live.delete(end) && live.size === 0) unlisten()
  }
}

function listen(): void {
  process.on("exit", onExit)
  for (const signal of SIGNALS) process.on(signal, onSignal)
}

function unlisten(): void {
  process.off("exit", onExit)
  for (const signal of SIGNALS) process.off(signal, onSignal)
}

function onExit(): void {
  for (const end of live) end("SIGTERM")
}

/** A program that handles the signal itself decides what becomes of its queries; otherwise it means what it always does. */
function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  for (const end of live) end(signal)
  unlisten()
  process.kill(process.pid, signal)
}
