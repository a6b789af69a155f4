import type { Hub } from "@signalbox/client"
import type { CommandContext } from "../command-context.ts"
import type { DataOption } from "../data-directory.ts"
import { CliError } from "../failure.ts"
import { type FoundHub, findHub } from "./find-hub.ts"

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
  const hub = connectHub({ ...found, reconnect: RECONNECT, timeoutMs: TIMEOUT_MS })
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
async function findOrOffer(options: DataOption, context: CommandContext): Promise<FoundHub> {
  try {
    return findHub(options, context)
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== "cli/no-hub") throw error
    const { probePorts } = await import("../discover/probe.ts")
    const hubs = (await probePorts()).filter(({ kind }) => kind === "hub")
    if (hubs.length === 0) throw error
    const offer = hubs.map(({ url }) => `SIGNALBOX_URL=${url}`).join(" or ")
    throw new CliError("cli/no-hub", `${error.message}. A hub answers here: ${offer} with its token in SIGNALBOX_TOKEN`)
  }
}
