import { existsSync } from "node:fs"
import type { Hub } from "@signalbox/client"
import type { CommandContext } from "../base/command-context.ts"
import { type DataOption, dataDirectory } from "../base/data-directory.ts"
import { CliError, causeOf } from "../base/failure.ts"
import { nextCommand, withNextCommand } from "../base/next-command.ts"
import type { Found } from "../discover/probe.ts"
import { askedFor, type FoundHub, findHub, whereHubIs } from "./find-hub.ts"

/** A person waits at the terminal: a hub that restarts is waited for, one that is gone is not waited for long. */
const RECONNECT = { baseDelayMs: 50, maxDelayMs: 500 }
/** A runner may take a while to start an agent. */
const TIMEOUT_MS = 120_000

/** Connects, does the work, and closes whatever came of it. */
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
  /** SIGNALBOX_URL named it. */
  readonly isByUrl: boolean
}

function unreachable(error: unknown, { next, found: { url }, isByUrl }: Away): unknown {
  const isAway = error instanceof Error && "code" in error && error.code === "client/unreachable"
  if (!isAway) return inCommands(error, next)
  const todo = isByUrl ? "check SIGNALBOX_URL, and whether that hub is up" : `start it again with "${next("up")}"`
  return new CliError("cli/no-hub", `the hub at ${url} cannot be reached (${causeOf(error)}): ${todo}`, {
    cause: error,
  })
}

/** The hub speaks of its API; at a terminal there are commands for it. */
function inCommands(error: unknown, next: Next): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error
  const message = error.message
    .replace("stop it first (DELETE)", () => `stop it first ("${next("stop")}")`)
    .replace('with "fork":true', "with --fork")
    .replace("GET /api/runners lists", () => `"${next("doctor")}" lists`)
  return message === error.message ? error : new CliError("cli/failed", message, { cause: error })
}

/** Where none is configured, what answers on this machine is offered; taken it is not, for it may be somebody else's. */
export async function findOrOffer(options: DataOption, context: CommandContext): Promise<FoundHub> {
  try {
    return findHub(options, context)
  } catch (error) {
    // A directory that was named means its own hub, and no other.
    if (!(error instanceof CliError) || error.code !== "cli/no-hub" || options.data !== undefined) throw error
    const { probePorts } = await import("../discover/probe.ts")
    const hadHub = existsSync(dataDirectory(options, context.env).adminToken)
    const offer = offerOf(await probePorts(), { hadHub, start: nextCommand("up", options, context.env) })
    throw offer === undefined ? error : new CliError("cli/no-hub", offer)
  }
}

/** Whoever had a hub here wants that one back first: what else answers may be somebody else's. */
function offerOf(
  found: readonly Found[],
  { hadHub, start }: { readonly hadHub: boolean; readonly start: string },
): string | undefined {
  const [hub, ...others] = found.filter(({ kind }) => kind === "hub").map(({ url }) => url)
  const relays = found.filter(({ kind }) => kind === "relay").map(({ url }) => url)
  const more = others.length === 0 ? "" : ` (so do ${others.join(", ")})`
  const use = `set SIGNALBOX_URL=${hub} and SIGNALBOX_TOKEN to a token of it`
  if (hub !== undefined && hadHub)
    return `your hub is not running: start it again with "${start}"; another one answers${more}: to use that, ${use}`
  const own = `start one of your own with "${start}"`
  if (hub !== undefined) return `no hub is configured here, but one answers${more}: ${use}, or ${own}`
  if (relays.length === 0) return undefined
  return `no hub is configured here, but a plain relay answers at ${relays.join(", ")}, which keeps no sessions: ${own}, and let agents dial that`
}
