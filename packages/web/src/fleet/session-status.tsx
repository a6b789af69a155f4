import { hasFailed, type Session } from "@signalbox/client"

export type SessionStatus = "needs-you" | "lost" | "failed" | "starting" | "running" | "ready" | "idle" | "ended"

export const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  "needs-you": "Needs you",
  lost: "Lost",
  failed: "Failed",
  starting: "Starting",
  running: "Running",
  ready: "Ready",
  idle: "Idle",
  ended: "Ended",
}

/** The order of the sections on the screen. */
export const STATUS_ORDER: readonly SessionStatus[] = [
  "needs-you",
  "lost",
  "failed",
  "starting",
  "running",
  "ready",
  "idle",
  "ended",
]

type Facts = Pick<
  Session,
  | "state"
  | "pendingAsks"
  | "runner"
  | "runnerSeenAt"
  | "transport"
  | "lastResult"
  | "exit"
  | "lastSeq"
  | "turnStartedAt"
  | "backgroundTasks"
  | "turns"
  | "agentSessionId"
>

export interface StatusContext {
  readonly now: number
  /** The last event of it that this browser showed; undefined when it never did. */
  readonly seenSeq: number | undefined
}

const SILENT_AFTER_MS = 30_000

/** The first that holds. Read from what the hub says, never guessed. */
export function statusOf(session: Facts, { now, seenSeq }: StatusContext): SessionStatus {
  if (session.pendingAsks > 0) return "needs-you"
  if (isSilent(session, now)) return "lost"
  if (hasFailed(session)) return "failed"
  if (session.state === "starting") return "starting"
  if (session.state === "running" && isUnheard(session)) return "starting"
  if (session.state === "running" || session.state === "waiting") return "running"
  // Its machine is gone for a moment: the turn goes on there.
  if (session.state === "disconnected" && session.turnStartedAt !== undefined) return "running"
  if (session.state === "idle" && (session.backgroundTasks ?? 0) > 0) return "running"
  if (session.state === "ended") return "ended"
  if (session.lastResult !== undefined && (seenSeq ?? 0) < endOfTurn(session)) return "ready"
  return "idle"
}

/**
 * A process that may live, on a machine that does not answer; or an agent that dialled in and went away. A machine may be
 * back in a moment: `runnerSeenAt` is when it came or went.
 */
export function isSilent(
  { state, runner, runnerSeenAt }: Pick<Facts, "state" | "runner" | "runnerSeenAt">,
  now: number,
): boolean {
  if (state !== "disconnected") return false
  return runner === null || runnerSeenAt === undefined || now - Date.parse(runnerSeenAt) > SILENT_AFTER_MS
}

/** What came after it, such as that its agent is connected again, is no turn that ended. */
function endOfTurn({ lastResult, lastSeq }: Pick<Facts, "lastResult" | "lastSeq">): number {
  const seq = lastResult?.["seq"]
  return typeof seq === "number" ? seq : lastSeq
}

/** Its process is there and was given its first message, and has said nothing yet: its CLI is still starting. */
function isUnheard({ turns, agentSessionId }: Pick<Facts, "turns" | "agentSessionId">): boolean {
  return turns === 0 && agentSessionId === null
}
