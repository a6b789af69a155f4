import { isObject, textOf } from "@signalbox/protocol"
import type { NewSession } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import { agentOf } from "./launch-plan.ts"
import type { RunnerFleet } from "./runner-fleet.ts"

const TIMEOUT_MS = 30_000
/** An agent that is given no folder works here. */
const HOME = "~"

/** The request with `resume` in the place of `continue`: the hub must know the conversation, which may be a session of its own. */
export async function continued(request: NewSession, fleet: RunnerFleet): Promise<NewSession> {
  const { continue: _asked, ...rest } = request
  const { cwd = HOME, env } = request
  await fleet.arrival()
  const runner = fleet.choose(request.runner, agentOf(request))
  const listed = await fleet.request(runner, { kind: "sessions", cwd, ...(env && { env }) }, TIMEOUT_MS)
  const resume = newestOf(isObject(listed) ? listed["sessions"] : listed)
  if (resume !== undefined) return { ...rest, runner, resume }
  const message = `no conversation is recorded in ${cwd} on ${fleet.nameOf(runner)}: choose another folder or machine, or leave continue out to begin a new session`
  throw new HubError("runner/no-transcript", message)
}

/** The newest comes first. A record without a folder has no message yet, so nothing could go on. */
function newestOf(sessions: unknown): string | undefined {
  const list: readonly unknown[] = Array.isArray(sessions) ? sessions : []
  return textOf(
    list.find((each) => textOf(each, "cwd") !== undefined),
    "sessionId",
  )
}
