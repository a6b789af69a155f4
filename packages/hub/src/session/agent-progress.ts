import { type AgentLine, type AgentState, type Envelope, idleAgent, stepAgent } from "@signalbox/protocol"
import type { AskDesk } from "../asks/ask-desk.ts"
import type { AgentWire } from "./agent-wire.ts"
import type { MessageDesk } from "./message-desk.ts"
import { MessageInProgress } from "./message-in-progress.ts"
import type { Published } from "./pipeline.ts"
import { takeReceipts } from "./receipts.ts"

export interface AgentProgressOptions {
  readonly wire: () => AgentWire | undefined
  readonly messages: MessageDesk
  readonly asks: AskDesk
  /** It is in another phase than before. */
  readonly moved: () => void
}

/** What a session's events, as they are published, tell of its agent: what it is doing, and what it has got. */
export class AgentProgress {
  readonly inProgress = new MessageInProgress()
  readonly #options: AgentProgressOptions
  /** By which process a line was said, where that is not the one that is here. */
  readonly #others = new WeakMap<Envelope, string>()
  state: AgentState = idleAgent

  constructor(options: AgentProgressOptions) {
    this.#options = options
  }

  saidByOther(message: Envelope, incarnation: string): void {
    this.#others.set(message, incarnation)
  }

  /** The process that said it, where that is not the one that is here. */
  otherOf(message: Envelope): string | undefined {
    return this.#others.get(message)
  }

  follow(item: Published): void {
    const { message } = item
    if (item.kind === "delta") {
      this.inProgress.take(message, item.line)
      this.#step({ from: "agent", message })
      return
    }
    const { from } = item.event
    if (from === "agent") this.#followAgent(message)
    else if (from === "client" && message.type === "user") this.#step({ from: "host", message })
  }

  #followAgent(message: Envelope): void {
    const { messages, asks } = this.#options
    const wire = this.#options.wire()
    const other = this.#others.get(message)
    // Lines of another process tell nothing about the one that is here. Open questions are asks, which outlive the hub.
    const isHeard = other === undefined || wire === undefined
    if (isHeard && message.type !== "control_request") this.#step({ from: "agent", message })
    if (message.type === "result" && other === undefined) this.inProgress.clear()
    takeReceipts(message, { incarnation: other ?? wire?.incarnation, messages, asks })
  }

  #step(line: AgentLine): void {
    const before = this.state
    this.state = stepAgent(before, line)
    if (this.state.phase !== before.phase) this.#options.moved()
  }
}
