import { setTimeout as pause } from "node:timers/promises"
import { type Hub, type HubOptions, openHub } from "@signalbox/hub"
import { counted } from "@signalbox/protocol"
import { claudeAtHand } from "../base/claude-at-hand.ts"
import { cockpitDirectory } from "../base/cockpit-directory.ts"
import type { CommandContext } from "../base/command-context.ts"
import { type DataDirectory, dataDirectory, makeDataDirectory } from "../base/data-directory.ts"
import { oneLine } from "../base/failure.ts"
import { nextCommand } from "../base/next-command.ts"
import { removeCard, writeCard } from "../base/process-card.ts"
import type { UpOptions } from "../commands/up.ts"
import { LocalRunner } from "../runner/local-runner.ts"
import { greet } from "./greeting.ts"
import { livingAgents } from "./living-agents.ts"
import { browserOpener, openBrowser } from "./open-browser.ts"

/** A runner is there within a second; machines may be busy. */
const RUNNER_MS = 20_000
/** Counting must not keep a hub from ending in time. */
const COUNT_MS = 1_000

/** Runs until it is told to stop. */
export async function up(options: UpOptions, context: CommandContext): Promise<void> {
  const data = dataDirectory(options, context.env)
  // Before anything is opened: whoever stops us while we start is heard.
  const stopped = stopSignal()
  makeDataDirectory(data)
  const hub = await openHub(hubOptions(options, data))
  const runner = new LocalRunner({ hub, data, tell: (text) => void context.stderr.write(`signalbox: ${text}\n`) })
  try {
    writeCard(data.hubCard, { url: hub.address.url })
    tellReady(hub, { options, data, context })
    if (options.runner) await bringRunner(runner, context)
    await stopped
    await tellOfAgents(hub, options, context)
  } finally {
    runner.close()
    removeCard(data.hubCard)
    await hub.close()
  }
}

function hubOptions(options: UpOptions, data: DataDirectory): HubOptions {
  const cockpit = cockpitDirectory()
  return {
    dataDirectory: data.path,
    host: options.host,
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    allowOrigins: options.allowOrigin,
    trustedProxies: options.trustedProxy,
    anonymousAgents: options.anonymousAgents === true,
    anonymousRelay: options.anonymousRelay === true,
    plaintextUnderstood: options.iUnderstandPlaintext === true,
    claudeVersion: claudeAtHand(),
    ...(options.runner ? { expectRunnerForMs: RUNNER_MS } : {}),
    ...(cockpit === undefined ? {} : { cockpitDirectory: cockpit }),
  }
}

interface Start {
  readonly options: UpOptions
  readonly data: DataDirectory
  readonly context: CommandContext
}

function tellReady(hub: Hub, { options, data, context }: Start): void {
  const { url, moved } = hub.address
  if (options.json === true) {
    if (moved) context.stderr.write(`signalbox: port 8765 was taken; the hub is at ${url}\n`)
    const ready = { event: "ready", url, token: hub.admin.token, data: data.path, pid: process.pid }
    context.stdout.write(`${JSON.stringify(ready)}\n`)
    return
  }
  const opener = options.open ? browserOpener(context.env) : undefined
  const login = `${options.publicUrl ?? url}/login#code=${hub.createLoginCode()}`
  greet({ hub, options, data, context, login, opens: opener !== undefined })
  if (opener !== undefined) openBrowser(login, opener, context.env)
}

/** After the hub is ready: who dials in by hand need not wait for it. A hub without one is a hub all the same. */
async function bringRunner(runner: LocalRunner, { stderr }: CommandContext): Promise<void> {
  try {
    await runner.start()
  } catch (error) {
    stderr.write(`signalbox: the runner cannot be started: ${oneLine(error)}; "signalbox doctor" tells more\n`)
  }
}

/** Agents outlive their hub; whoever stops it should know, and know how to end them. */
async function tellOfAgents(hub: Hub, options: UpOptions, { stderr, env }: CommandContext): Promise<void> {
  const count = await Promise.race([livingAgents(hub), pause(COUNT_MS, 0, { ref: false })])
  if (count === 0) return
  const they = counted(count, "agent goes on", "agents go on")
  const next = (words: string) => nextCommand(words, options, env)
  stderr.write(
    `signalbox: ${they} without the hub; "${next("up")}" finds them again, "${next("down --agents")}" ends them\n`,
  )
}

function stopSignal(): Promise<void> {
  // Not once: a terminal and whoever started us may both say so, and the second must not cut the end short.
  return new Promise((resolve) => {
    process.on("SIGINT", () => resolve())
    process.on("SIGTERM", () => resolve())
  })
}
