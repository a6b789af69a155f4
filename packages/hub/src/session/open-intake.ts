import { AgentIntake, type AgentIntakeOptions } from "./agent-intake.ts"
import type { LiveSession } from "./live-session.ts"
import type { LiveSessionOptions } from "./live-session-options.ts"

/** Brings what an agent says to the parts of its session that it is for. */
export function openIntake(
  session: LiveSession,
  options: LiveSessionOptions,
  own: Pick<AgentIntakeOptions, "replied" | "background">,
): AgentIntake {
  const { log, asks, call, trouble } = options
  return new AgentIntake({
    ...own,
    sessionId: session.id,
    log,
    asks,
    history: session.history,
    wire: () => session.wire,
    traits: () => session.traits,
    record: (message, how) => session.history.record("agent", message, how),
    keep: (message, how) => session.history.keep(message, how),
    echoed: (uuid) => session.messages.confirm(uuid),
    call: (message) => call(session, message),
    touched: () => session.touch(),
    absorbed: (kind) => options.absorbed?.(kind),
    malformed: (reason) => trouble(session, "a malformed line", reason),
    now: () => session.now(),
  })
}
