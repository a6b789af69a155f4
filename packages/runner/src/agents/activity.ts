import { type AgentLine, type AgentState, idleAgent, isAtRest, stepAgent } from "@signalbox/protocol/agent-state"
import { type Envelope, isEnvelope, parseObject } from "@signalbox/protocol/envelope"

/** What an agent is doing, and since when: what the governor decides by. */
export interface Activity {
  readonly agent: AgentState
  /** When the agent last said, or was told, something that counts. */
  readonly lastAt: number
  readonly turnEndedAt: number
}

/** A message that was written in the middle of a turn begins its own at once when that one ends, or was a part of it. */
const NEXT_TURN_MS = 1_000

export function restingActivity(now: number): Activity {
  return { agent: idleAgent, lastAt: now, turnEndedAt: Number.NEGATIVE_INFINITY }
}

export function stepActivity(before: Activity, line: AgentLine, now: number): Activity {
  const agent = stepAgent(before.agent, line)
  if (agent === before.agent) return before
  const hasEnded = before.agent.turn !== "none" && agent.turn === "none"
  return { agent, lastAt: now, turnEndedAt: hasEnded ? now : before.turnEndedAt }
}

/** Idle, and not only between two turns. */
export function mayEnd({ agent, turnEndedAt }: Activity, now: number): boolean {
  return isAtRest(agent) && now - turnEndedAt >= NEXT_TURN_MS
}

/**
 * The types that tell what an agent is doing. A line without any of these words is not parsed, so that the stream of deltas costs
 * nothing here; the order of the keys is the agent's own affair.
 */
const TELLING = /"(?:control_request|control_cancel_request|result|system|assistant)"/

/** Undefined for a line that tells nothing about what the agent is doing. */
export function tellingLine(line: string): Envelope | undefined {
  return TELLING.test(line) ? parseLine(line) : undefined
}

/** Undefined for a line that is no message. */
export function parseLine(line: string): Envelope | undefined {
  const message = parseObject(line)
  return message !== undefined && isEnvelope(message) ? message : undefined
}
