import { fieldOf, textOf } from "@signalbox/protocol"
import type { HybridConnection } from "@signalbox/transport"
import type { LiveSession } from "../session/live-session.ts"
import type { AgentConnection } from "./agent-connection.ts"

/**
 * Finds the agent that posted these events, among those that dialled the root without a token. Events name their
 * conversation or the request that they answer; otherwise they are from the only agent that could say something new.
 * Undefined: the agent is not known, and nobody gets what may be another's.
 */
export function whose(
  lines: readonly string[],
  agents: readonly AgentConnection[],
  sessionOf: (agentSessionId: string) => LiveSession | undefined,
): HybridConnection | undefined {
  let isNamed = false
  for (const line of lines) {
    const message: unknown = JSON.parse(line)
    const home = sessionOf(textOf(message, "session_id") ?? "")
    const named = home === undefined ? undefined : agents.find(({ session }) => session === home)
    if (named !== undefined) return named.connection
    isNamed ||= home !== undefined
    const answered = textOf(fieldOf(message, "response"), "request_id")
    const asked = answered === undefined ? undefined : agents.find((agent) => agent.hasBeenAsked(answered))
    if (asked !== undefined) return asked.connection
  }
  // A conversation that goes on elsewhere is not the next one of an agent that has its own.
  if (agents.length === 1 && !isNamed) return agents[0]?.connection
  const strangers = agents.filter(({ session }) => session.record.agentSessionId === null)
  const working = strangers.filter(({ session }) => session.phase() === "running")
  const [only, another] = strangers.length === 1 ? strangers : working
  return another === undefined ? only?.connection : undefined
}
