import type { ServerResponse } from "node:http"
import type { Clock } from "../pacing.ts"
import {
  assertSendable,
  type Closed,
  closedError,
  type LineLimits,
  overflowError,
  type Transport,
} from "../transport.ts"
import type { UpgradeRequest } from "../websocket/accept.ts"
import type { AcceptedConnection } from "../websocket/accepted-socket.ts"
import { assertCloseCode } from "../websocket/close-codes.ts"

/** An agent that dialled us and may post its events. One that posts none is an accepted connection like any other. */
export interface HybridConnection extends Transport {
  readonly request: UpgradeRequest
  closeWith(code: number, reason: string): Promise<void>
}

export interface HybridSettings extends Required<LineLimits> {
  readonly clock: Clock
  readonly maxWaitingBytes: number
  readonly answerGraceMs: number
}

const HEAD_CHARS = 120

export type HandOut = "delivered" | "over" | "gone"

export class PostedConnection implements HybridConnection {
  readonly lines: AsyncIterable<string>
  readonly closed: Promise<Closed>
  readonly request: UpgradeRequest
  readonly #connection: AcceptedConnection
  readonly #settings: HybridSettings
  readonly #gate: AnswerGate
  readonly #graces = new Set<() => void>()
  #ending: Closed | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #underWay = 0
  #postedLines = 0

  constructor(connection: AcceptedConnection, settings: HybridSettings) {
    this.#connection = connection
    this.#settings = settings
    this.#gate = new AnswerGate((line) => connection.send(line), settings.maxWaitingBytes)
    this.lines = connection.lines
    this.request = connection.request
    this.closed = connection.closed.then((closed) => {
      this.#ending = closed
      this.#gate.finish(closed)
      for (const cancel of this.#graces) cancel()
      return closed
    })
  }

  /** A POST begins. Returns what ends it, or undefined when too many are under way. */
  enter(maxUnderWay: number): (() => void) | undefined {
    if (this.#underWay >= maxUnderWay) return undefined
    this.#underWay++
    return () => {
      this.#underWay--
    }
  }

  async send(line: string): Promise<void> {
    if (this.#ending !== undefined) throw closedError(this.#ending)
    assertSendable(line)
    return this.#gate.send(line)
  }

  close(reason = "closed"): Promise<void> {
    return this.#end(reason, () => this.#connection.close(reason))
  }

  async closeWith(code: number, reason: string): Promise<void> {
    assertCloseCode(code)
    return this.#end(reason, () => this.#connection.closeWith(code, reason))
  }

  async #end(reason: string, close: () => Promise<void>): Promise<void> {
    if (this.#ending === undefined) {
      this.#ending = { by: "us", reason }
      this.#gate.finish(this.#ending)
    }
    await close()
    await this.closed
  }

  /**
   * Hands a POST's events to the reader, one POST after the other. The wait for room comes before the handing out: a POST
   * whose events are out is answered at once, so a reader that waits for its own answer to leave cannot block it.
   */
  handOut(lines: readonly string[], response: ServerResponse): Promise<HandOut> {
    const result = this.#turn.then(async (): Promise<HandOut> => {
      await this.#connection.roomToDeliver()
      if (response.destroyed) return "gone"
      const kept = this.#withinLimits(lines)
      this.#whenAnswered(response, this.#gate.begin())
      return this.#connection.deliver(kept) ? "delivered" : "over"
    })
    // Whatever goes wrong with this POST is not the next one's affair.
    this.#turn = result.catch(() => undefined)
    return result
  }

  /** The reply has left us, or never will. The agent gets a moment to take it in before anything follows. */
  #whenAnswered(response: ServerResponse, answered: () => void): void {
    let isOver = false
    const finish = () => {
      if (isOver) return
      isOver = true
      const cancel = this.#settings.clock.after(this.#settings.answerGraceMs, () => {
        this.#graces.delete(cancel)
        answered()
      })
      this.#graces.add(cancel)
    }
    response.once("finish", finish)
    response.once("close", finish)
  }

  #withinLimits(lines: readonly string[]): string[] {
    const { maxLineBytes, onDroppedLine } = this.#settings
    return lines.filter((line) => {
      this.#postedLines++
      const bytes = Buffer.byteLength(line)
      if (bytes <= maxLineBytes) return true
      onDroppedLine({ lineNumber: this.#postedLines, bytes, maxLineBytes, head: line.slice(0, HEAD_CHARS) })
      return false
    })
  }
}

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
class AnswerGate {
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
