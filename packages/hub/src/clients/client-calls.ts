import { randomUUID } from "node:crypto"
import { createPendingRequests, encode, type UnlistedRequest } from "@signalbox/protocol"
import type { ControlReply } from "../session/agent-control.ts"
import { cancelLine } from "./client-lines.ts"

/** A client as its session's desk sees it. */
export interface DeskClient {
  /** A client that comes back has the same. */
  readonly id: string
  readonly tokenId: string
  /** Whether it may answer for a person: a viewer is asked nothing. */
  readonly mayAnswer: boolean
  tell(line: string): void
}

export interface CallOptions {
  readonly timeoutMs: number
  /** The agent wants no answer any more. */
  readonly signal: AbortSignal
}

/** Requests of the hub's to one client. Each settles: by its answer, its time, the agent's change of mind or the client's end. */
export class ClientCalls {
  readonly #client: DeskClient
  readonly #pending = createPendingRequests<ControlReply>({ memory: 0 })
  /** The calls that wait, for a client whose connection was not what it seemed. */
  readonly #lines = new Map<string, string>()

  constructor(client: DeskClient) {
    this.#client = client
  }

  get client(): DeskClient {
    return this.#client
  }

  async ask(request: UnlistedRequest, { timeoutMs, signal }: CallOptions): Promise<ControlReply> {
    const requestId = `hub-call-${randomUUID()}`
    // First, for it may throw: then nobody waits for an answer.
    const line = encode({ type: "control_request", request_id: requestId, request })
    const reply = this.#pending.wait(requestId, { timeoutMs, signal })
    this.#lines.set(requestId, line)
    this.#client.tell(line)
    try {
      return await reply
    } catch (error) {
      // Gone or not, it need not think about it any longer.
      this.#client.tell(cancelLine(requestId))
      throw error
    } finally {
      this.#lines.delete(requestId)
    }
  }

  /** What waits is asked once more; a client ignores what it is at work on. */
  tellAgain(): void {
    for (const line of this.#lines.values()) this.#client.tell(line)
  }

  /** True when the answer was to one of these. */
  answer(requestId: string, reply: ControlReply): boolean {
    return requestId.startsWith("hub-call-") && this.#pending.answer(requestId, reply) !== "kept"
  }

  close(reason: string): void {
    this.#pending.close(reason)
  }
}
