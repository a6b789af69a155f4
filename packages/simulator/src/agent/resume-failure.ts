import type { Transport } from "@signalbox/transport"
import type { Fields, ResultFacts, WireProfile } from "../profiles/profile.ts"
import type { Randomness } from "../randomness.ts"
import type { RefusedSession } from "../sessions/open-session.ts"

const NOTHING: Omit<ResultFacts, "sessionId" | "uuid"> = {
  outcome: { kind: "error", subtype: "error_during_execution", errors: [], isError: true },
  numTurns: 0,
  stopReason: null,
  timing: { durationMs: 0, apiMs: 0 },
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  hasUsage: false,
  totalCostUsd: 0,
  spending: new Map(),
  spendingOfTurn: new Map(),
  denials: [],
  userUuids: [],
  queued: 0,
  index: 0,
  subagents: 0,
  safetyStops: 0,
  subagentsInFront: 0,
}

/** A session that is not there is told on the wire as well: a result of the plainest form, and nothing else. */
export function tellResumeFailure(options: {
  transport: Transport
  profile: WireProfile
  random: Randomness
  session: RefusedSession
}): void {
  const { transport, profile, random, session } = options
  if (session.sessionId === undefined) return
  const ids = { sessionId: session.sessionId, uuid: random.uuid() }
  const { usage } = profile.shapes.result({ ...NOTHING, ...ids })
  const result: Fields = {
    type: "result",
    subtype: "error_during_execution",
    duration_ms: 0,
    duration_api_ms: 0,
    is_error: true,
    num_turns: 0,
    stop_reason: null,
    // The oldest generation tells the id it would have had, the others the one they were asked for.
    session_id: profile.generation === 37 ? random.uuid() : ids.sessionId,
    total_cost_usd: 0,
    usage,
    modelUsage: {},
    permission_denials: [],
    uuid: ids.uuid,
    errors: [session.refused],
    ...(profile.generation === 325 ? { result_index: 0 } : {}),
  }
  // Nobody may be there to hear it.
  void transport.send(JSON.stringify(result)).catch(() => undefined)
}
