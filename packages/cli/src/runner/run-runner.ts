import { writeFileSync } from "node:fs"
import { createLogger } from "@signalbox/hub/logger"
import { counted, defined } from "@signalbox/protocol"
import { openRunner, type Runner, type RunnerOptions } from "@signalbox/runner"
import {
  type CommandContext,
  type DataDirectory,
  dataDirectory,
  type JsonOption,
  makeDataDirectory,
} from "../base/context.ts"
import { SIGNALBOX } from "../base/installed.ts"
import { keepShort, readLivingCard, writeCard } from "../base/process-files.ts"
import { checkWelcome, elsewhere } from "./elsewhere.ts"
import { END_IF_IDLE } from "./local-runner.ts"
import { readToken } from "./runner-token.ts"

export interface RunnerCommandOptions extends JsonOption {
  readonly hub?: string
  readonly name?: string
  readonly label: readonly string[]
  readonly maxAgents?: number
  readonly tokenFile?: string
  /** The runner of a data directory's own hub, wherever that hub is at the time. */
  readonly local?: boolean
}

type Place = Pick<RunnerOptions, "hubUrl" | "token" | "stateDirectory">

const NO_HUB = 3

/** Runs until it is told to stop, or has had neither an agent nor a hub for a while. */
export async function runRunner(options: RunnerCommandOptions, context: CommandContext): Promise<void> {
  const data = dataDirectory(options, context.env)
  const isLocal = options.local === true
  const remote = isLocal ? undefined : elsewhere(options, { data, context })
  const place: Place = remote ?? besideHub(data)
  const away = remote === undefined ? undefined : await checkWelcome(remote)
  makeDataDirectory(data)
  const log = createLogger()
  const runner = await openRunner({
    ...place,
    log,
    keepSmall: true,
    simulator: [process.execPath, SIGNALBOX, "sim"],
    labels: options.label,
    ...defined({ name: options.name, maxAgents: options.maxAgents }),
  }).catch((error: unknown) => {
    if (isLocal && isLocked(error)) return undefined
    throw error
  })
  // Another runner is there, and finds the hub by the data directory as this one would have.
  if (runner === undefined) return log.info("another runner is already running here and serves the hub")
  // Signals are heard before anything is said: whoever reads that Ctrl-C stops the runner may press it at once.
  const isStopped = obey(runner, data)
  const forget = isLocal ? keepShort(data.runnerLog) : greet(runner, { options, context, away })
  let isConnected = false
  void runner.connected.then(() => (isConnected = true))
  const reason = await runner.closed
  forget()
  if (isLocal) noteEnd(data)
  log.info({ reason }, "runner stopped")
  // For a supervisor that may want to restart it.
  if (!isLocal && !(isStopped() && isConnected)) process.exitCode = NO_HUB
}

/** The hub's address is read again for each attempt: a hub may come back on another port. */
function besideHub(data: DataDirectory): Place {
  return {
    hubUrl: () => readLivingCard(data.hubCard)?.url,
    token: () => readToken(data.runnerToken),
    stateDirectory: data.runnerState,
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "runner/locked"
}

/** Stops the agents with the runner when a signal says so. Returns whether one did. */
function obey(runner: Runner, { runnerReply }: DataDirectory): () => boolean {
  let isStopped = false
  const stop = (signal: string) => {
    isStopped = true
    void runner.close({ agents: true, reason: `the runner was stopped (${signal})` })
  }
  process.on("SIGINT", stop)
  process.on("SIGTERM", stop)
  // Closing a terminal does not stop agents that others use.
  process.on("SIGHUP", () => undefined)
  const endIfIdle = async () => {
    const isOver = await runner.close({ agents: false, reason: "the hub was stopped" })
    if (isOver) isStopped = true
    else reply(runnerReply, runner.agents)
  }
  process.on(END_IF_IDLE, () => void endIfIdle())
  return () => isStopped
}

/** Lets the hub that looks after it tell this end from a crash. */
function noteEnd({ runnerEnded }: DataDirectory): void {
  try {
    writeCard(runnerEnded, {})
  } catch {
    // Without the note the hub restarts the runner, which harms nobody.
  }
}

function reply(path: string, agents: number): void {
  try {
    writeFileSync(path, JSON.stringify({ agents }), { mode: 0o600 })
  } catch {
    // The command that asked times out and says so; a full disk is no reason to stop agents.
  }
}

interface Greeting {
  readonly options: RunnerCommandOptions
  readonly context: CommandContext
  /** Why the hub does not answer; undefined if it does. */
  readonly away: string | undefined
}

/** Says that the runner serves a hub only after the hub has accepted it. */
function greet(runner: Runner, { options: { hub, json }, context: { stdout, stderr }, away }: Greeting): () => void {
  const { name, maxAgents } = runner.facts
  if (away !== undefined) stderr.write(`Can't reach the hub at ${hub} (${away}). Retrying; Ctrl-C stops the runner.\n`)
  const tellServing = () => {
    if (json === true) stdout.write(`${JSON.stringify({ event: "ready", name, hub, maxAgents, pid: process.pid })}\n`)
    const most = counted(maxAgents, "agent")
    stderr.write(`Connected to ${hub} as ${name}, up to ${most}. Ctrl-C stops the runner and its agents.\n`)
  }
  void runner.connected.then(tellServing)
  return () => undefined
}
