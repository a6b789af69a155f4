import { type Closed, closedError, overflowError } from "../transport.ts"

interface Gated {
  readonly line: string
  /** Goes through when this POST, and every one before it, has been answered. */
  readonly after: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Holds lines back until the POSTs whose events were handed out before them have been answered. CLI 2.1.37 loses an answer
 * that arrives earlier than the reply to the POST with its question, and its turn then hangs for good.
 */
export class AnswerGate {
  readonly #send: (line: string) => Promise<void>
  readonly #maxWaitingBytes: number
  #lastPost = 0
  /** In the order in which they came, so the first is the oldest. */
  readonly #unanswered = new Set<number>()
  #gated: Gated[] = []
  #gatedChars = 0

  constructor(send: (line: string) => Promise<void>, maxWaitingBytes: number) {
    this.#send = send
    this.#maxWaitingBytes = maxWaitingBytes
  }

  /** A POST's events are about to be handed out. Returns what says that it has been answered. */
  begin(): () => void {
    const post = ++this.#lastPost
    this.#unanswered.add(post)
    return () => {
      this.#unanswered.delete(post)
      this.#release()
    }
  }

  send(line: string): Promise<void> {
    if (this.#unanswered.size === 0 && this.#gated.length === 0) return this.#send(line)
    if (this.#gatedChars > this.#maxWaitingBytes) {
      return Promise.reject(overflowError(this.#gatedChars, this.#maxWaitingBytes))
    }
    this.#gatedChars += line.length
    return new Promise((resolve, reject) => {
      this.#gated.push({ line, after: this.#lastPost, resolve, reject })
    })
  }

  /** Refuses what still waits: it was not sent. */
  finish(closed: Closed): void {
    this.#gatedChars = 0
    for (const gated of this.#gated.splice(0)) gated.reject(closedError(closed))
  }

  #release(): void {
    const [oldest = Number.POSITIVE_INFINITY] = this.#unanswered
    let count = 0
    for (const gated of this.#gated) {
      if (gated.after >= oldest) break
      count++
      this.#gatedChars -= gated.line.length
      this.#send(gated.line).then(gated.resolve, gated.reject)
    }
    this.#gated.splice(0, count)
  }
}
