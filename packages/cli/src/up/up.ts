import { readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import type { Hub } from "@signalbox/hub"
import { counted, defined } from "@signalbox/protocol"
import {
  type CommandContext,
  type DataDirectory,
  dataDirectory,
  type JsonOption,
  nextCommand,
} from "../base/context.ts"
import { oneLine, usageError } from "../base/failure.ts"
import { hasSqlite, postgresOf, type StoreOption, withoutPassword } from "../base/store-place.ts"
import { browserOpener, greet, openBrowser } from "./greeting.ts"
import { type HubHere, openHubHere } from "./hub-here.ts"

/** Counting must not delay the end of a hub. */
const COUNT_MS = 1_000

export interface UpOptions extends JsonOption, StoreOption {
  readonly host: string
  readonly port?: number
  readonly open: boolean
  readonly runner: boolean
  readonly clusterUrl?: string
  readonly clusterCa?: string
  readonly publicUrl?: string
  readonly allowOrigin: readonly string[]
  readonly trustedProxy: readonly string[]
  readonly anonymousAgents?: boolean
  readonly anonymousRelay?: boolean
  readonly iUnderstandPlaintext?: boolean
}

/** Runs until it is told to stop. */
export async function up(options: UpOptions, context: CommandContext): Promise<void> {
  const data = dataDirectory(options, context.env)
  // Signals are heard before anything is opened, so that a stop during the start is not lost.
  const stopped = stopSignal()
  const store = postgresOf(options, data, context.env)
  const tell = (text: string) => void context.stderr.write(`signalbox: ${text}\n`)
  const here = await openHubHere(data, {
    host: options.host,
    ...defined({ port: options.port, publicUrl: options.publicUrl, clusterUrl: options.clusterUrl, store }),
    ...(options.clusterCa !== undefined && { clusterCa: readCertificates(options.clusterCa) }),
    allowOrigins: options.allowOrigin,
    trustedProxies: options.trustedProxy,
    anonymousAgents: options.anonymousAgents === true,
    anonymousRelay: options.anonymousRelay === true,
    plaintextUnderstood: options.iUnderstandPlaintext === true,
    hasRunner: options.runner,
    tell,
  })
  try {
    await tellReady(here.hub, { options, data, store, context })
    if (options.runner) await bringRunner(here, context)
    await stopped
    await tellOfAgents(here.hub, options, context)
  } finally {
    await here.close()
  }
}

function readCertificates(file: string): string {
  const use = "name a file with certificates in PEM form"
  let text = ""
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    throw usageError(`--cluster-ca: can't read ${file} (${oneLine(error)}); ${use}`)
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----"))
    throw usageError(`--cluster-ca: ${file} has no certificate; ${use}`)
  return text
}

interface Start {
  readonly options: UpOptions
  readonly data: DataDirectory
  readonly store: string | undefined
  readonly context: CommandContext
}

async function tellReady(hub: Hub, { options, data, store, context }: Start): Promise<void> {
  const { url, moved } = hub.address
  const place = store === undefined ? undefined : withoutPassword(store)
  if (place !== undefined && hasSqlite(data))
    context.stderr.write(`signalbox: the hub uses ${place}; the SQLite database in ${data.path} is not used\n`)
  if (options.json === true) {
    if (moved) context.stderr.write(`signalbox: port 8765 is taken; the hub is at ${url}\n`)
    const known = { event: "ready", url, token: hub.admin.token, data: data.path, pid: process.pid }
    const ready = { ...known, ...defined({ store: place }) }
    context.stdout.write(`${JSON.stringify(ready)}\n`)
    return
  }
  const opener = options.open ? browserOpener(context.env) : undefined
  // With no room on the disk people sign in with their token.
  const code = await hub.createLoginCode().catch(() => undefined)
  const login = `${options.publicUrl ?? url}/login${code === undefined ? "" : `#code=${code}`}`
  greet({ hub, options, data, store: place, context, login, opens: opener !== undefined })
  if (opener !== undefined) openBrowser(login, opener, context.env)
}

/** After the hub is ready: external agents need not wait for the runner, and a hub works without one. */
async function bringRunner({ startRunner }: HubHere, { stderr }: CommandContext): Promise<void> {
  try {
    await startRunner()
  } catch (error) {
    stderr.write(`signalbox: the runner did not start: ${oneLine(error)}; see signalbox doctor\n`)
  }
}

/** Agents outlive their hub: whoever stops it should know, and know how to stop them. */
async function tellOfAgents(hub: Hub, options: UpOptions, { stderr, env }: CommandContext): Promise<void> {
  const count = await Promise.race([livingAgents(hub), pause(COUNT_MS, 0, { ref: false })])
  if (count === 0) return
  const next = (words: string) => nextCommand(words, options, env)
  stderr.write(
    `signalbox: ${counted(count, "agent keeps", "agents keep")} running without the hub; reconnect with "${next("up")}", stop with "${next("down --agents")}"\n`,
  )
}

/** How many agents run on runners of this hub, as far as one page of its sessions tells. */
async function livingAgents(hub: Hub): Promise<number> {
  const { connectHub } = await import("@signalbox/client")
  const client = connectHub({ url: hub.address.url, token: hub.admin.token })
  try {
    const { sessions } = await client.sessions({ limit: 500 })
    return sessions.filter(({ transport }) => transport === "runner").length
  } catch {
    return 0
  } finally {
    client.close()
  }
}

function stopSignal(): Promise<void> {
  // Not once: a terminal and whoever started us may both send a signal, and the second must not cut the end short.
  return new Promise((resolve) => {
    process.on("SIGINT", () => resolve())
    process.on("SIGTERM", () => resolve())
  })
}
