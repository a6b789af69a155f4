import type { Envelope } from "@signalbox/protocol"
import type { Session } from "@signalbox/protocol/hub-api"
import type { AskDesk } from "../asks/ask-desk.ts"
import type { Ask } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import type { Directory } from "../store/directory.ts"
import type { EventLog } from "../store/event-log.ts"
import type { Published } from "./history.ts"
import type { LiveSession } from "./live-session.ts"

/** The hub as a session knows it: the parts it stands on, and those it tells. */
export interface SessionHub {
  readonly log: EventLog
  readonly directory: Directory
  readonly asks: AskDesk
  readonly viewers: SessionViewers
  readonly metrics: Pick<HubMetrics, "lineAbsorbed">
  readonly clients: SessionClients
  readonly launches: SessionLaunches
  readonly registry: {
    /** The session has changed: it may have been let go meanwhile. */
    takeBack(session: LiveSession): void
    /** The session of these questions, whose agent is away. */
    homeOf(requestIds: readonly string[]): Promise<LiveSession | undefined>
  }
  readonly trouble: (session: LiveSession, what: string, error: unknown) => void
  readonly now?: (() => Date) | undefined
  /** Where hubs share the store. */
  readonly hubId?: string | undefined
}

/** Everybody who watches. */
interface SessionViewers {
  countOf(sessionId: string): number
  /** It is durable, and told in the order of the wire. */
  published(sessionId: string, items: readonly Published[]): void
  changed(view: Session): void
  asked(ask: Ask): void
  /** The session is another hub's now: those who watch it look for it there. */
  left(sessionId: string): void
}

/** An event, and what becomes of it in the log. `isLeftover`: the process that said it has been replaced. */
export interface HeardEvent {
  readonly message: Envelope
  readonly stored: Promise<StoredEvent | undefined>
  readonly isLeftover: boolean
}

/** Hooks and servers that clients bring to a session, beside messages and answers. */
interface SessionClients {
  /** Whether they have brought something, or are there. */
  has(session: LiveSession): boolean
  /** A request of the agent's that is no ask: a hook, an MCP message, or one we do not know. False: nobody takes it. */
  call(session: LiveSession, message: Envelope): boolean
  /** The hooks that clients and the policy want: they go into the first `initialize` to a new process. */
  greeting(session: LiveSession, incarnation: string): Readonly<Record<string, unknown>>
  /** `initialize` is over, answered or not. */
  greeted(session: LiveSession): void
  /** An event of a process whose every tool call the policy judges, and what becomes of it in the log. */
  heard(session: LiveSession, event: HeardEvent): void
  /** Another hub had the session: what clients brought to it there is in the store. */
  restore(session: LiveSession): Promise<void>
  /** The session is another hub's now. */
  left(session: LiveSession): void
  /** The same process is back: what it was not told while it was away it is told now. */
  returned(session: LiveSession): void
}

/** Starts agents again. */
interface SessionLaunches {
  /** The session has ended and got a message: resolves when its agent was started again, and fails when it cannot be. */
  revive(session: LiveSession, by: string): Promise<void>
  /** Its process cannot be left to work. */
  stop(session: LiveSession, reason: string): Promise<void>
  /** Something waits for an agent that rests or has ended. */
  wake(session: LiveSession): void
}
