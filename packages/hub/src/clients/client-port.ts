import type { StoredEvent } from "../model/event.ts"

/** The way to one client, whatever it is made of: a socket, an event stream, a relay's share of one. */
export interface ClientPort {
  /** A numbered line of the session. */
  event(line: string, event: StoredEvent): void
  /** A line that passes and is never numbered. `isSpeech`: a piece of a message in progress. */
  delta(line: string, isSpeech: boolean): void
  /** A question of the agent's, or word that it is settled. Keeps its place among the events. */
  ask(line: string): void
  /** For this client alone: the reply to its request, a call of its hook or server. May overtake what waits. */
  tell(line: string): void
  /** 1000: the session is over. 1012: come back. 4001: not allowed. */
  end(code: number, reason: string): void
}
