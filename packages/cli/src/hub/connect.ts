import { existsSync, readFileSync } from "node:fs"
import type { FollowItem, Hub } from "@signalbox/client"
import { listedAddresses } from "@signalbox/protocol/hub-addresses"
import {
  type CommandContext,
  type DataDirectory,
  type DataOption,
  dataDirectory,
  isOnThisMachine,
  nextCommand,
  withNextCommand,
} from "../base/context.ts"
import { CliError, causeOf, usageError } from "../base/failure.ts"
import { readCard, readLivingCard } from "../base/process-files.ts"
import type { Found } from "../discover/probe.ts"
import { tellPerson } from "../terminal/output.ts"

/** A person waits at the terminal: a restart of the hub is bridged, but not a long absence. */
const RECONNECT = { baseDelayMs: 50, maxDelayMs: 500 }
/** A runner may take a while to start an agent. */
const TIMEOUT_MS = 120_000

/** Connects, does the work, and closes the connection however it ended. */
export async function withHub<Result>(
  options: DataOption,
  context: CommandContext,
  work: (hub: Hub) => Promise<Result>,
): Promise<Result> {
  const found = await findOrOffer(options, context)
  const { connectHub } = await import("@signalbox/client")
  const hub = connectHub({ ...whereHubIs(options, context), reconnect: RECONNECT, timeoutMs: TIMEOUT_MS })
  try {
    return await work(hub)
  } catch (error) {
    const next = (words: string) => nextCommand(words, options, context.env)
    const isByUrl = options.data === undefined && askedFor(context.env) !== undefined
    throw unreachable(withNextCommand(error, options, context.env), { next, found, isByUrl })
  } finally {
    hub.close()
  }
}

type Next = (words: string) => string

interface Away {
  readonly next: Next
  readonly found: FoundHub
  /** True if SIGNALBOX_URL named the hub. */
  readonly isByUrl: boolean
}

function unreachable(error: unknown, { next, found: { url }, isByUrl }: Away): unknown {
  const isAway = error instanceof Error && "code" in error && error.code === "client/unreachable"
  if (!isAway) return inCommands(error, next)
  const todo = isByUrl ? "check SIGNALBOX_URL, and that the hub is running" : `start it with "${next("up")}"`
  return new CliError("cli/no-hub", `can't reach the hub at ${url} (${causeOf(error)}): ${todo}`, {
    cause: error,
  })
}

/** The hub's errors name its API; at a terminal, name the commands instead. */
function inCommands(error: unknown, next: Next): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error
  const message = error.message
    .replace("stop it (DELETE)", () => `stop it ("${next("stop")}")`)
    .replace('("fork":true)', "(--fork)")
    .replace("GET /api/runners lists", () => `"${next("doctor")}" lists`)
  return message === error.message ? error : new CliError("cli/failed", message, { cause: error })
}

/** If no hub is configured, suggests one that answers on this machine, but never uses it: it may be somebody else's. */
export async function findOrOffer(options: DataOption, context: CommandContext): Promise<FoundHub> {
  try {
    return findHub(options, context)
  } catch (error) {
    // A named directory means its own hub and no other.
    if (!(error instanceof CliError) || error.code !== "cli/no-hub" || options.data !== undefined) throw error
    const { probePorts } = await import("../discover/probe.ts")
    const hadHub = existsSync(dataDirectory(options, context.env).adminToken)
    const offer = offerOf(await probePorts(), { hadHub, start: nextCommand("up", options, context.env) })
    throw offer === undefined ? error : new CliError("cli/no-hub", offer)
  }
}

/** Someone who had a hub here first wants that one back. */
function offerOf(
  found: readonly Found[],
  { hadHub, start }: { readonly hadHub: boolean; readonly start: string },
): string | undefined {
  const [hub, ...others] = found.filter(({ kind }) => kind === "hub").map(({ url }) => url)
  const relays = found.filter(({ kind }) => kind === "relay").map(({ url }) => url)
  const more = others.length === 0 ? "" : ` (and ${others.join(", ")})`
  const use = `set SIGNALBOX_URL=${hub} and SIGNALBOX_TOKEN`
  if (hub !== undefined && hadHub)
    return `your hub is not running: start it with "${start}". Another hub is running${more}: to use it, ${use}`
  const own = `start your own with "${start}"`
  if (hub !== undefined) return `no hub is configured, but one is running${more}: ${use}, or ${own}`
  if (relays.length === 0) return undefined
  return `no hub is configured. A plain relay is running at ${relays.join(", ")}, but it keeps no sessions: ${own}`
}

export interface FoundHub {
  readonly url: string
  readonly token: string
}

/** Address and token of one attempt are looked up once: without /proc a lookup starts a process. */
const LOOK_MS = 100

/**
 * The hub that a command talks to: that of a named data directory, else SIGNALBOX_URL, else that of the default data directory. The
 * admin token is sent only to the hub that it belongs to.
 */
export function findHub(options: DataOption, { env }: CommandContext): FoundHub {
  const data = dataDirectory(options, env)
  const here = readLivingCard(data.hubCard)?.url
  const asked = data.isNamed ? undefined : askedFor(env)
  const url = asked ?? here
  if (url === undefined) throw noHub(data, nextCommand("up", options, env))
  const token = (data.isNamed ? undefined : nonEmpty(env["SIGNALBOX_TOKEN"])) ?? ownToken(data, url === here)
  if (token !== undefined) return { url, token }
  const advice =
    asked === undefined
      ? `can't read ${data.adminToken}; set SIGNALBOX_TOKEN to a token of this hub`
      : "set SIGNALBOX_TOKEN to a token of that hub (create one there with signalbox token create)"
  throw new CliError("cli/not-allowed", `no token for the hub at ${url}: ${advice}`)
}

/** For a lasting connection: the hub may come back on another port, and its token is sent nowhere while it is down. */
export function whereHubIs(
  options: DataOption,
  context: CommandContext,
): { readonly url: () => string | undefined; readonly token: () => string | undefined } {
  let looked: { readonly atMs: number; readonly found: FoundHub | undefined } | undefined
  const now = () => {
    const atMs = performance.now()
    if (looked === undefined || atMs - looked.atMs > LOOK_MS) looked = { atMs, found: lookFor(options, context) }
    return looked.found
  }
  return { url: () => now()?.url, token: () => now()?.token }
}

function lookFor(options: DataOption, context: CommandContext): FoundHub | undefined {
  try {
    return findHub(options, context)
  } catch {
    return undefined
  }
}

/** The address in SIGNALBOX_URL, or several with commas between them, if it is set. */
function askedFor(env: NodeJS.ProcessEnv): string | undefined {
  const url = nonEmpty(env["SIGNALBOX_URL"])
  const isAddress = (text: string) => URL.canParse(text) && /^(?:http|ws)s?:$/.test(new URL(text).protocol)
  const bad = url === undefined ? undefined : listedAddresses(url).find((text) => !isAddress(text))
  if (bad === undefined) return url
  const which = url?.includes(",") === true ? `, and "${bad}" in it is no address` : ""
  throw usageError(
    `SIGNALBOX_URL is ${url}${which}: set it to a hub's address such as http://127.0.0.1:8765, or unset it`,
  )
}

/** The address in SIGNALBOX_URL, if it is not that of the data directory's own hub. A directory that was named counts alone. */
export function hubElsewhere(data: DataDirectory, env: NodeJS.ProcessEnv): string | undefined {
  const asked = data.isNamed ? undefined : askedFor(env)
  return asked === undefined || isSameHub(asked, readCard(data.hubCard)?.url) ? undefined : asked
}

/** Several addresses name more than one hub of a data directory. */
function isSameHub(url: string, own: string | undefined): boolean {
  if (own === undefined || listedAddresses(url).length > 1) return false
  const [one, other] = [new URL(url), new URL(own)]
  return one.port === other.port && (one.hostname === other.hostname || (isOnThisMachine(url) && isOnThisMachine(own)))
}

function ownToken(data: DataDirectory, isItsHub: boolean): string | undefined {
  if (!isItsHub) return undefined
  try {
    return nonEmpty(readFileSync(data.adminToken, "utf8").trim())
  } catch {
    return undefined
  }
}

function noHub(data: DataDirectory, start: string): CliError {
  const where = data.isNamed ? `on the data directory ${data.path}` : `here (none in ${data.path})`
  return new CliError(
    "cli/no-hub",
    `no hub is running ${where}: start one with "${start}", or set SIGNALBOX_URL and SIGNALBOX_TOKEN (signalbox discover looks for others)`,
  )
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : text
}

/** Says why nothing comes while the hub is offline. */
export function tellAway(context: CommandContext): (item: FollowItem) => void {
  let isAway = false
  return ({ type }) => {
    if (type === "disconnected" && !isAway) tellPerson(context, "Hub offline. Reconnecting…")
    if (type === "subscribed" && isAway) tellPerson(context, "Reconnected to the hub.")
    if (type === "disconnected" || type === "subscribed") isAway = type === "disconnected"
  }
}
