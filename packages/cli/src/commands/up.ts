import { rmSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { type Hub, type HubOptions, openHub } from "@signalbox/hub"
import type { Command } from "commander"
import { claudeAtHand } from "../claude-at-hand.ts"
import { UsageError } from "../failure.ts"
import type { CommandContext } from "../main.ts"

interface UpOptions {
  readonly host: string
  readonly port?: string
  readonly data: string
  readonly json?: boolean
  readonly publicUrl?: string
  readonly allowOrigin?: readonly string[]
  readonly anonymousAgents?: boolean
  readonly anonymousRelay?: boolean
  readonly iUnderstandPlaintext?: boolean
}

export function addUp(program: Command, context: CommandContext): void {
  program
    .command("up")
    .description("Start the hub on this machine")
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on (default: 8765, or the next free one up to 8864; 0: any free one)")
    .option("--data <directory>", "where the hub keeps everything", defaultData(context.env))
    .option("--json", "print one line of JSON when ready, and nothing else on stdout")
    .option("--no-open", "do not open the cockpit (there is none yet)")
    .option("--no-runner", "do not start a runner beside the hub (there is none yet)")
    .option("--public-url <url>", "the address that people use, when a proxy stands in front")
    .option("--allow-origin <url>", "a web page that may talk to the hub (repeatable)", collect, [])
    .option("--anonymous-agents", "let agents of this machine connect without a token")
    .option("--anonymous-relay", "let plain relay frontends of this machine connect without a token")
    .option("--i-understand-plaintext", "listen beyond this machine without TLS")
    .addHelpText("after", "\nExample:\n  signalbox up --port 0 --data /tmp/try --json")
    .action((options: UpOptions) => up(options, context))
}

async function up(options: UpOptions, context: CommandContext): Promise<void> {
  const dataDirectory = resolve(options.data)
  // Before anything is opened: whoever stops us while we start is heard.
  const stopped = stopSignal()
  const hub = await openHub(hubOptions(options, dataDirectory))
  const card = join(dataDirectory, "hub.json")
  try {
    writeFileSync(card, `${JSON.stringify({ url: hub.address.url, pid: process.pid })}\n`, { mode: 0o600 })
    if (options.json === true) tellReady(hub, dataDirectory, context)
    else greet(hub, dataDirectory, context)
    await stopped
  } finally {
    rmSync(card, { force: true })
    await hub.close()
  }
}

function hubOptions(options: UpOptions, dataDirectory: string): HubOptions {
  return {
    dataDirectory,
    host: options.host,
    ...(options.port === undefined ? {} : { port: readPort(options.port) }),
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    allowOrigins: options.allowOrigin ?? [],
    anonymousAgents: options.anonymousAgents === true,
    anonymousRelay: options.anonymousRelay === true,
    plaintextUnderstood: options.iUnderstandPlaintext === true,
    claudeVersion: claudeAtHand(),
  }
}

function tellReady(hub: Hub, data: string, { stdout, stderr }: CommandContext): void {
  const { url, moved } = hub.address
  if (moved) stderr.write(`signalbox: port 8765 was taken; the hub is at ${url}\n`)
  stdout.write(`${JSON.stringify({ event: "ready", url, token: hub.admin.token, data, pid: process.pid })}\n`)
}

/** Five lines: what happened, where everything is, and what to type next. */
function greet(hub: Hub, dataDirectory: string, { stderr }: CommandContext): void {
  const { url, moved } = hub.address
  stderr.write(
    [
      `The hub is up at ${url}${moved ? " (8765 was taken)" : ""}. Stop it with Ctrl-C.`,
      `Everything it keeps is in ${dataDirectory}, the admin token in ${hub.admin.path}.`,
      `Sign in within a minute: ${url}/login#code=${hub.createLoginCode()}`,
      `Bring an agent: curl -s -X POST ${url}/api/sessions -H "Authorization: Bearer $(cat ${hub.admin.path})" -H 'Content-Type: application/json' -d '{"agent":"external","prompt":"Say hello"}'`,
      "and paste the command of its reply. Without an account, put `npx claude-sim --profile 2.1.120` in the place of `claude`.",
      "",
    ].join("\n"),
  )
}

function stopSignal(): Promise<void> {
  return new Promise((resolveStop) => {
    process.once("SIGINT", () => resolveStop())
    process.once("SIGTERM", () => resolveStop())
  })
}

function readPort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UsageError(`--port ${text}: give a number from 0 to 65535`)
}

function defaultData(env: NodeJS.ProcessEnv): string {
  return env["SIGNALBOX_DATA"] ?? join(homedir(), ".signalbox")
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value]
}
