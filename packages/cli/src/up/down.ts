import { existsSync, readFileSync, rmSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import { counted } from "@signalbox/protocol"
import { findRunner } from "@signalbox/runner"
import type { CommandContext } from "../base/command-context.ts"
import { type DataDirectory, dataDirectory } from "../base/data-directory.ts"
import { CliError, usageError } from "../base/failure.ts"
import { nextCommand } from "../base/next-command.ts"
import { identify, isAlive, readCard } from "../base/process-card.ts"
import type { DownOptions } from "../commands/down.ts"
import { askedFor } from "../hub/find-hub.ts"
import { END_IF_IDLE } from "../runner/end-if-idle.ts"
import { isOnThisMachine } from "../sessions/new-session.ts"
import { printJson } from "../terminal/output.ts"

/** A hub ends within five seconds, a runner when its agents have; their machine may be busy. */
const HUB_PATIENCE_MS = 20_000
const RUNNER_PATIENCE_MS = 60_000
const LOOK_MS = 50

type Outcome = "stopped" | "absent" | "lives"

export async function down(options: DownOptions, context: CommandContext): Promise<void> {
  const data = dataDirectory(options, context.env)
  requireOwnHub(data, options, context.env)
  // With the agents, the hub goes last: it hears of their end, and notes it.
  const early = options.agents === true ? await stopRunner(data, "SIGTERM") : undefined
  const hub = await stopHub(data)
  const runner = early ?? (await stopIdleRunner(data))
  if (options.json === true) return printJson(context, { hub, ...runner })
  context.stderr.write(`${hub === "stopped" ? "The hub is stopped." : "No hub was running."}\n`)
  if (runner.runner === "stopped") context.stderr.write("Its runner is stopped, and no agent is left on it.\n")
  if (runner.runner === "lives") {
    const next = (words: string) => nextCommand(words, options, context.env)
    const they = counted(runner.agents, "agent goes on", "agents go on")
    context.stderr.write(`${they} living; "${next("up")}" finds them again, "${next("down --agents")}" ends them.\n`)
  }
}

/** Other commands would talk to the hub at SIGNALBOX_URL: stopping another one is not what was meant. */
function requireOwnHub(data: DataDirectory, options: DownOptions, env: NodeJS.ProcessEnv): void {
  const elsewhere = data.isNamed ? undefined : askedFor(env)
  if (elsewhere === undefined || isSameHub(elsewhere, readCard(data.hubCard)?.url)) return
  const named = nextCommand(options.agents === true ? "down --agents" : "down", { ...options, data: data.path }, env)
  throw usageError(
    `SIGNALBOX_URL is ${elsewhere}, and down stops only a hub of this machine: stop that hub where it runs, or the one here with "${named}"`,
  )
}

function isSameHub(url: string, own: string | undefined): boolean {
  if (own === undefined) return false
  const [one, other] = [new URL(url), new URL(own)]
  return one.port === other.port && (one.hostname === other.hostname || (isOnThisMachine(url) && isOnThisMachine(own)))
}

/** By its number and its beginning: a process that got the number since is left alone. */
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

/** Whoever brought a hub takes its runner along, unless agents live on it. */
export function stopIdleRunner(data: DataDirectory): Promise<RunnerOutcome> {
  return stopRunner(data, END_IF_IDLE)
}

/** The runner itself knows whether it has agents; while it is asked one may come or go. */
async function stopRunner(data: DataDirectory, signal: "SIGTERM" | typeof END_IF_IDLE): Promise<RunnerOutcome> {
  const pid = existsSync(data.runnerState) ? await findRunner(data.runnerState) : undefined
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

function agentsToldIn(path: string): number | undefined {
  try {
    const reply: unknown = JSON.parse(readFileSync(path, "utf8"))
    const isReply = typeof reply === "object" && reply !== null && "agents" in reply
    return isReply && typeof reply.agents === "number" ? reply.agents : undefined
  } catch {
    // Not there yet, or half of it.
    return undefined
  }
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
  const message = `the ${what} (pid ${pid}) does not end: look at what it says, or end it with kill -9 ${pid}`
  return new CliError("cli/failed", message)
}
