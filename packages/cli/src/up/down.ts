import { existsSync, rmSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import { counted } from "@signalbox/protocol"
import {
  type CommandContext,
  type DataDirectory,
  dataDirectory,
  type JsonOption,
  nextCommand,
} from "../base/context.ts"
import { CliError, usageError } from "../base/failure.ts"
import { identify, isAlive, readCard, readJson } from "../base/process-files.ts"
import { hubElsewhere } from "../hub/connect.ts"
import { END_IF_IDLE } from "../runner/local-runner.ts"
import { printJson } from "../terminal/output.ts"

export interface DownOptions extends JsonOption {
  readonly agents?: boolean
}

/** A hub stops within five seconds, a runner when its agents have; the machine may be busy. */
const HUB_PATIENCE_MS = 20_000
const RUNNER_PATIENCE_MS = 60_000
const LOOK_MS = 50

type Outcome = "stopped" | "absent" | "lives"

export async function down(options: DownOptions, context: CommandContext): Promise<void> {
  const data = dataDirectory(options, context.env)
  requireOwnHub(data, options, context.env)
  // With --agents the hub stops last: it records how the agents ended.
  const early = options.agents === true ? await stopRunner(data, "SIGTERM") : undefined
  const hub = await stopHub(data)
  const runner = early ?? (await stopIdleRunner(data))
  if (options.json === true) return printJson(context, { hub, ...runner })
  context.stderr.write(`${hub === "stopped" ? "Hub stopped." : "No hub was running."}\n`)
  if (runner.runner === "stopped") context.stderr.write("Runner stopped. No agents are running.\n")
  if (runner.runner === "lives") {
    const next = (words: string) => nextCommand(words, options, context.env)
    const they = counted(runner.agents, "agent keeps", "agents keep")
    context.stderr.write(`${they} running. Reconnect: ${next("up")}. Stop: ${next("down --agents")}\n`)
  }
}

/** Other commands talk to the hub at SIGNALBOX_URL, so `down` must not stop a different one. */
function requireOwnHub(data: DataDirectory, options: DownOptions, env: NodeJS.ProcessEnv): void {
  const elsewhere = hubElsewhere(data, env)
  if (elsewhere === undefined) return
  const named = nextCommand(options.agents === true ? "down --agents" : "down", { ...options, data: data.path }, env)
  throw usageError(
    `SIGNALBOX_URL is ${elsewhere}, and down stops only a hub on this machine: stop that hub on its own machine, or this one with "${named}"`,
  )
}

/** Found by pid and start time: a process that got the same pid later is left alone. */
async function stopHub(data: DataDirectory): Promise<Outcome> {
  const card = readCard(data.hubCard)
  if (card === undefined || !isAlive(card)) return "absent"
  process.kill(card.pid, "SIGTERM")
  const isGone = await until(() => !isAlive(card), HUB_PATIENCE_MS)
  if (!isGone) throw doesNotEnd("hub", card.pid)
  return "stopped"
}

interface RunnerOutcome {
  readonly runner: Outcome
  readonly agents: number
}

/** Stops the runner unless it has agents. */
export function stopIdleRunner(data: DataDirectory): Promise<RunnerOutcome> {
  return stopRunner(data, END_IF_IDLE)
}

/** Asks the runner itself whether it has agents: one may come or go meanwhile. */
async function stopRunner(data: DataDirectory, signal: "SIGTERM" | typeof END_IF_IDLE): Promise<RunnerOutcome> {
  const pid = existsSync(data.runnerState) ? await findRunner(data) : undefined
  if (pid === undefined) return { runner: "absent", agents: 0 }
  const runner = identify(pid)
  rmSync(data.runnerReply, { force: true })
  process.kill(pid, signal)
  let agents: number | undefined
  const isSettled = await until(() => {
    agents = agentsToldIn(data.runnerReply)
    return agents !== undefined || !isAlive(runner)
  }, RUNNER_PATIENCE_MS)
  rmSync(data.runnerReply, { force: true })
  if (!isSettled) throw doesNotEnd("runner", pid)
  return agents === undefined ? { runner: "stopped", agents: 0 } : { runner: "lives", agents }
}

/** The runner's package is loaded only here: a hub that starts shares this file, and is ready sooner without it. */
async function findRunner({ runnerState }: DataDirectory): Promise<number | undefined> {
  return (await import("@signalbox/runner")).findRunner(runnerState)
}

function agentsToldIn(path: string): number | undefined {
  const agents = readJson(path)?.["agents"]
  return typeof agents === "number" ? agents : undefined
}

async function until(isSo: () => boolean, patienceMs: number): Promise<boolean> {
  const deadline = Date.now() + patienceMs
  while (!isSo()) {
    if (Date.now() > deadline) return false
    await pause(LOOK_MS)
  }
  return true
}

function doesNotEnd(what: string, pid: number): CliError {
  const message = `the ${what} (pid ${pid}) did not stop: check its log, or end it with kill -9 ${pid}`
  return new CliError("cli/failed", message)
}
