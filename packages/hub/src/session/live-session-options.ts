import type { Envelope } from "@signalbox/protocol"
import type { AskDesk } from "../asks/ask-desk.ts"
import type { KeptSession } from "../model/session-record.ts"
import type { Directory } from "../store/directory.ts"
import type { EventLog } from "../store/event-log.ts"
import type { Published } from "./history.ts"
import type { LiveSession } from "./live-session.ts"

/** What a session stands on, and whom it tells. */
export interface LiveSessionOptions {
  readonly kept: KeptSession
  readonly log: EventLog
  readonly directory: Directory
  readonly asks: AskDesk
  /** For everybody who watches; called when it is durable, in the order of the wire. */
  readonly publish: (session: LiveSession, items: readonly Published[]) => void
  /** The record has changed. */
  readonly changed: (session: LiveSession) => void
  /** A request of the agent's that is no ask: a hook, an MCP message, or one we do not know. False: nobody takes it. */
  readonly call: (session: LiveSession, message: Envelope) => boolean
  /** What goes into the first `initialize` to a new process: the hooks that clients want. */
  readonly greeting?: (session: LiveSession, incarnation: string) => Readonly<Record<string, unknown>>
  /** `initialize` is over, answered or not. */
  readonly greeted?: (session: LiveSession) => void
  /** The session of these questions, whose agent is away. */
  readonly homeOf?: (requestIds: readonly string[]) => Promise<LiveSession | undefined>
  /** The same process is back: what it was not told while it was away it is told now. */
  readonly returned?: (session: LiveSession) => void
  /** The session has ended and got a message: resolves when its agent was started again, and fails when it cannot be. */
  readonly revive?: (session: LiveSession, by: string) => Promise<void>
  /** Something waits for a parked agent. */
  readonly wake?: (session: LiveSession) => void
  /** A line was seen and not logged: for the metrics. */
  readonly absorbed?: (kind: string) => void
  readonly viewers: (sessionId: string) => number
  readonly trouble: (session: LiveSession, what: string, error: unknown) => void
  readonly now?: () => Date
}
