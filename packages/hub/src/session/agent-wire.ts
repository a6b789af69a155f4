import type { Envelope } from "@signalbox/protocol"
import type { SessionTransport } from "../model/session-record.ts"

/** One connection of one process of an agent, as its session sees it. */
export interface AgentWire {
  /** The process; a reconnect of the same one has the same. */
  readonly incarnation: string
  /** It says that it was here before, and it is not known where: the session it names is the one it left. */
  readonly isReturning: boolean
  /** It turned out to be another process than was thought: that of this incarnation, or one that was never here. */
  renew(incarnation?: string): void
  /** May change once: an agent is seen to be hybrid at its first POST. */
  readonly transport: SessionTransport
  /** Resolves when the line was taken; rejects when the connection is over or the line is not fit for this agent. */
  send(message: Envelope): Promise<void>
  /** 4001 tells every CLI not to come back, 1012 to come back. */
  closeWith(code: number, reason: string): Promise<void>
}
