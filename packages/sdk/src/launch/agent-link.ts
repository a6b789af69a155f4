import type { Closed } from "@signalbox/transport/process"
import type { SdkError } from "../base/errors.ts"

/** As a transport's end; an `SdkError` is what the program is to be told, as it is. */
export type LinkEnd = Closed | { readonly by: "us" | "peer"; readonly reason: string; readonly error: SdkError }

/**
 * The one seam between a query and its agent, wherever that runs. A process here is one; an agent of a hub is
 * another.
 */
export interface AgentLink {
  /** The agent's lines, as many as are there at a time, for one reader; they end, and never throw, when the link is over. */
  readonly batches: AsyncIterable<readonly string[]>
  /** Resolves once, when the link is over, and never rejects. */
  readonly closed: Promise<LinkEnd>
  /** Resolves when the line has been taken; waiting for it is what bounds memory. */
  send(line: string): Promise<void>
  /** No more lines will be sent. The agent is left to finish, and may say a whole turn yet. */
  endInput(): void
  /** Ends the agent: its input first, a while to finish, then by force. Resolves when it is gone. */
  close(reason: string): Promise<void>
  /** As `close`, without the while. */
  terminate(reason: string): Promise<void>
}
