import type { Hub } from "@signalbox/client"
import type { CommandContext } from "../command-context.ts"
import type { DataOption } from "../data-directory.ts"
import type { Found } from "../discover/probe.ts"
import { CliError } from "../failure.ts"
import { type FoundHub, findHub, whereHubIs } from "./find-hub.ts"

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
    throw unreachable(error, found)
  } finally {
    hub.close()
  }
}

function unreachable(error: unknown, { url }: FoundHub): unknown {
  const isAway = error instanceof Error && "code" in error && error.code === "client/unreachable"
  if (!isAway) return error
  return new CliError("cli/no-hub", `the hub at ${url} cannot be reached: start it again with "signalbox up"`, {
    cause: error,
  })
}

/** Where none is configured, what answers on this machine is offered; taken it is not, for it may be somebody else's. */
export async function findOrOffer(options: DataOption, context: CommandContext): Promise<FoundHub> {
  try {
    return findHub(options, context)
  } catch (error) {
    // A directory that was named means its own hub, and no other.
    if (!(error instanceof CliError) || error.code !== "cli/no-hub" || options.data !== undefined) throw error
    const { probePorts } = await import("../discover/probe.ts")
    const offer = offerOf(await probePorts())
    throw offer === undefined ? error : new CliError("cli/no-hub", `no hub is configured here, but ${offer}`)
  }
}

function offerOf(found: readonly Found[]): string | undefined {
  const [hub, ...others] = found.filter(({ kind }) => kind === "hub").map(({ url }) => url)
  const relays = found.filter(({ kind }) => kind === "relay").map(({ url }) => url)
  const start = 'start one of your own with "signalbox up"'
  if (hub !== undefined) {
    const more = others.length === 0 ? "" : ` (so do ${others.join(", ")})`
    return `one answers${more}: set SIGNALBOX_URL=${hub} and SIGNALBOX_TOKEN to a token of it, or ${start}`
  }
  if (relays.length === 0) return undefined
  return `a plain relay answers at ${relays.join(", ")}, which keeps no sessions: ${start}, and let agents dial that`
}
