import { composeSuccess, type Envelope } from "@signalbox/protocol"
import type { Ask, AskRecord } from "../model/ask.ts"
import type { Directory } from "../store/directory.ts"
import { type AskReader, wholeAsk } from "./whole-ask.ts"

export interface AnswerDeliveryOptions {
  readonly directory: Pick<Directory, "listAsks" | "markAskDelivered" | "giveUpAnswer">
  readonly reader: AskReader
  /** Puts a line on the wire of the process that asked. False when that process cannot be reached now. */
  readonly send: (incarnation: string, message: Envelope) => Promise<boolean>
  readonly now: () => string
}

/** An answer whose effect was not seen yet. */
interface Unconfirmed {
  readonly ask: AskRecord
  /** When it was last put on the wire, by the clock that only goes forward. */
  readonly sentAt?: number
}

/** Answers that were on the wire but whose effect was not seen yet are sent again to a process that came back. */
const MAX_UNCONFIRMED = 1_000

/** Brings committed answers to the process that asked, and to no other. */
export class AnswerDelivery {
  readonly #options: AnswerDeliveryOptions
  readonly #unconfirmed = new Map<string, Unconfirmed>()

  constructor(options: AnswerDeliveryOptions) {
    this.#options = options
  }

  /** What was answered without a sign of delivery will be sent again. */
  async restore(session: string): Promise<void> {
    for (const ask of await this.#options.directory.listAsks({ session, undelivered: true, limit: MAX_UNCONFIRMED })) {
      this.#unconfirmed.set(ask.id, { ask })
    }
  }

  /** Now, or when that process is back. Resolves with the ask as it then is. */
  async deliver(ask: AskRecord, known?: Ask["request"]): Promise<AskRecord> {
    const { send, directory, reader, now } = this.#options
    // Noted before anything is waited for, so that nobody else sends it meanwhile.
    this.#unconfirmed.set(ask.id, { ask, sentAt: performance.now() })
    forgetOldest(this.#unconfirmed, MAX_UNCONFIRMED)
    const request = known ?? (await reader.request(ask).catch(() => undefined))
    // Without what was asked nothing is said: an allow would allow something else.
    if (request === undefined || !(await send(ask.incarnation, answerWire(wholeAsk(ask, request))))) {
      if (this.#unconfirmed.has(ask.id)) this.#unconfirmed.set(ask.id, { ask })
      return ask
    }
    const deliveredAt = now()
    await directory.markAskDelivered(ask.id, deliveredAt)
    return { ...ask, deliveredAt }
  }

  /**
   * The same process is back: what it may not have heard is said again. Not what it was told on this connection already:
   * 2.1.37 takes a second answer, while the tool runs, for leave to run it once more.
   */
  async sendAgain(incarnation: string, connectedAt: number): Promise<void> {
    for (const { ask, sentAt = 0 } of this.#unconfirmed.values()) {
      if (ask.incarnation === incarnation && sentAt < connectedAt) await this.deliver(ask)
    }
  }

  /** The session of an answer to one of these questions that may not have been heard. */
  sessionOf(isAsked: (ask: AskRecord) => boolean): string | undefined {
    for (const { ask } of this.#unconfirmed.values()) if (isAsked(ask)) return ask.sessionId
    return undefined
  }

  /** Asked once more, it has not heard the answer. */
  async askedAgain(id: string): Promise<void> {
    const entry = this.#unconfirmed.get(id)
    if (entry !== undefined && entry.sentAt === undefined) await this.deliver(entry.ask)
  }

  /** The agent did something with the answer: it need not be sent again. */
  confirm(incarnation: string, toolUseId: string | undefined): void {
    for (const [id, { ask }] of this.#unconfirmed) {
      if (ask.incarnation !== incarnation) continue
      if (toolUseId === undefined || ask.toolUseId === toolUseId) this.#unconfirmed.delete(id)
    }
  }

  /** The process that asked is gone: nobody is to hear it, after a restart neither. */
  async giveUp(isGone: (ask: AskRecord) => boolean): Promise<void> {
    for (const [id, { ask }] of this.#unconfirmed) if (isGone(ask)) this.#unconfirmed.delete(id)
    const lost = (await this.#undelivered()).filter(isGone)
    // Not waited for: a store in trouble must not hold up the next process. What is not noted now is when that ends.
    for (const { id } of lost) this.#options.directory.giveUpAnswer(id).catch(() => undefined)
  }

  #undelivered(): Promise<readonly AskRecord[]> {
    return this.#options.directory.listAsks({ undelivered: true, limit: MAX_UNCONFIRMED })
  }
}

/** The line that tells the agent. */
export function answerWire({ requestId, answer = {} }: Pick<Ask, "requestId" | "answer">): Envelope {
  return composeSuccess(requestId, answer)
}

function forgetOldest(entries: Map<string, unknown>, limit: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= limit) return
    entries.delete(oldest)
  }
}
