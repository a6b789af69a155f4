import { writeFileSync } from "node:fs"
import { createLogger } from "@signalbox/hub/logger"
import { counted } from "@signalbox/protocol"
import { openRunner, type Runner, type RunnerOptions } from "@signalbox/runner"
import type { CommandContext } from "../base/command-context.ts"
import { type DataDirectory, dataDirectory, makeDataDirectory } from "../base/data-directory.ts"
import { keepShort } from "../base/keep-short.ts"
import { readLivingCard, writeCard } from "../base/process-card.ts"
import { SIGNALBOX } from "../base/signalbox-path.ts"
import type { RunnerCommandOptions } from "../commands/runner.ts"
import { checkWelcome, elsewhere } from "./elsewhere.ts"
import { END_IF_IDLE } from "./end-if-idle.ts"
import { readToken } from "./runner-token.ts"

type Place = Pick<RunnerOptions, "hubUrl" | "token" | "stateDirectory">

const NO_HUB = 3

/** Runs until it is told to stop, or has had neither agent nor hub for a while. */
export async function runRunner(options: RunnerCommandOptions, context: CommandContext): Promise<void> {
  const data = dataDirectory(options, context.env)
  const isLocal = options.local === true
  const place = isLocal ? besideHub(data) : elsewhere(options, { data, context })
  const away = isLocal ? undefined : await checkWelcome(place)
  makeDataDirectory(data)
  const log = createLogger()
  const runner = await openRunner({
    ...place,
    log,
    keepSmall: true,
    simulator: [process.execPath, SIGNALBOX, "sim"],
    labels: options.label,
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.maxAgents === undefined ? {} : { maxAgents: options.maxAgents }),
  }).catch((error: unknown) => {
    if (isLocal && isLocked(error)) return undefined
    throw error
  })
  // Another one lives, and finds the hub by the data directory as this one would have.
  if (runner === undefined) return log.info("another runner lives here: that one is used")
  const forget = isLocal ? keepShort(data.runnerLog) : greet(runner, { options, context, away })
  let isConnected = false
  void runner.connected.then(() => (isConnected = true))
  const isStopped = obey(runner, data)
  const reason = await runner.closed
  forget()
  if (isLocal) noteEnd(data)
  log.info({ reason }, "the runner is over")
  // Whoever watches over it may want to start it again.
  if (!isLocal && !(isStopped() && isConnected)) process.exitCode = NO_HUB
}

/** The hub's address is asked for at each try: it may come back on another port. */
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

/** Told to stop, it takes its agents down with it. True once it was told. */
function obey(runner: Runner, { runnerReply }: DataDirectory): () => boolean {
  let isStopped = false
  const stop = (signal: string) => {
    isStopped = true
    void runner.close({ agents: true, reason: `the runner was stopped (${signal})` })
  }
  process.on("SIGINT", stop)
  process.on("SIGTERM", stop)
  // A terminal that is closed does not end agents that others use.
  process.on("SIGHUP", () => undefined)
  const endIfIdle = async () => {
    const isOver = await runner.close({ agents: false, reason: "the hub was stopped" })
    if (isOver) isStopped = true
    else reply(runnerReply, runner.agents)
  }
  process.on(END_IF_IDLE, () => void endIfIdle())
  return () => isStopped
}

/** The hub that looks after it can tell this end from a death. */
function noteEnd({ runnerEnded }: DataDirectory): void {
  try {
    writeCard(runnerEnded, {})
  } catch {
    // Then it is taken for dead and started again, which harms nobody.
  }
}

function reply(path: string, agents: number): void {
  try {
    writeFileSync(path, JSON.stringify({ agents }), { mode: 0o600 })
  } catch {
    // Whoever asked waits for it in vain and then says so; a full disk is no reason to end agents.
  }
}

interface Greeting {
  readonly options: RunnerCommandOptions
  readonly context: CommandContext
  /** Why the hub does not answer yet. */
  readonly away: string | undefined
}

/** Says that it serves a hub only once that hub has taken it. */
function greet(runner: Runner, { options: { hub, json }, context: { stdout, stderr }, away }: Greeting): () => void {
  const { name, maxAgents } = runner.facts
  if (away !== undefined)
    stderr.write(`The hub at ${hub} does not answer (${away}). Trying again until it does; Ctrl-C stops the runner.\n`)
  const tellServing = () => {
    if (json === true) stdout.write(`${JSON.stringify({ event: "ready", name, hub, maxAgents, pid: process.pid })}\n`)
    const most = counted(maxAgents, "agent")
    stderr.write(`The runner ${name} serves ${hub}, ${most} at most. Ctrl-C stops it and its agents.\n`)
  }
  void runner.connected.then(tellServing)
  return () => undefined
}
