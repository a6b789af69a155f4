import {
  composeError,
  composeSuccess,
  type Decoded,
  type Envelope,
  fieldOf,
  type PeerTraits,
  textOf,
} from "@signalbox/protocol"
import { normaliseAgentMessage } from "@signalbox/protocol/dialects"
import type { AskDesk } from "../asks/ask-desk.ts"
import { HubError } from "../errors.ts"
import type { StoredEvent } from "../model/event.ts"
import type { EventLog } from "../store/event-log.ts"
import type { AgentWire } from "./agent-wire.ts"
import { fateOf, questionKey } from "./line-fate.ts"
import type { SessionPipeline } from "./pipeline.ts"
import { ReplayFilter } from "./replay-filter.ts"

export interface AgentIntakeOptions {
  readonly sessionId: string
  readonly log: EventLog
  readonly asks: AskDesk
  readonly pipeline: SessionPipeline
  readonly wire: () => AgentWire | undefined
  /** What its CLI can take. */
  readonly traits: () => PeerTraits
  /** A question, which is an event before it is an ask. */
  readonly record: (message: Envelope, how: { line: string; key?: string }) => Promise<StoredEvent | undefined>
  /** An event that nobody waits for. */
  readonly keep: (message: Envelope, how: { line: string; key?: string }) => void
  /** A reply to a request of ours. */
  readonly replied: (message: Envelope) => void
  /** The echo of a message: its delivery receipt. */
  readonly echoed: (uuid: string) => void
  /** A request that is no ask. False: nobody takes it. */
  readonly call: (message: Envelope) => boolean
  /** Seen and not logged: counted. */
  readonly absorbed: (kind: string) => void
  /** Asks came or went. */
  readonly touched: () => void
  readonly malformed: (reason: string) => void
  readonly background: (work: Promise<unknown>) => void
  readonly now: () => string
}

/** Bound for one session at a time. No well-meaning agent has as many. */
const MAX_OPEN_QUESTIONS = 1_000

/** What becomes of an agent's lines: events, deltas, asks, replies and calls. */
export class AgentIntake {
  readonly #options: AgentIntakeOptions
  readonly #replay = new ReplayFilter()
  readonly #underWay = new Set<Promise<void>>()
  /** Questions on their way to become asks. */
  #arriving = 0

  constructor(options: AgentIntakeOptions) {
    this.#options = options
  }

  /** `key` is for an event that has none of its own: whoever brings it may bring it again. */
  take(decoded: Decoded, key?: string): void {
    if (decoded.kind === "malformed") return this.#options.malformed(decoded.reason)
    const { line } = decoded
    const message: Envelope = decoded.message
    const fate = fateOf(message)
    switch (fate.fate) {
      case "delta":
        return this.#replay.holds(message, line) ? undefined : this.#options.pipeline.delta(line, message)
      case "event":
        this.#replay.sawEvent()
        return this.#takeEvent(message, line, fate.key ?? key)
      case "question":
        return this.#options.background(this.#begin(this.#takeQuestion(message, line, fate.requestId)))
      case "cancel":
        this.#options.call(message)
        return this.#options.background(this.#cancel(fate.requestId))
      case "reply":
        return this.#options.replied(message)
      case "call":
        this.#options.absorbed(ABSORBED_CALLS.get(fate.request["subtype"]) ?? "call")
        if (!this.#options.call(message)) this.#refuseCall(fate.requestId, fate.request)
        return undefined
      case "absorbed":
        return this.#options.absorbed("keep_alive")
    }
  }

  /** What a process said that is not the one that is here: it goes into the history, and nobody is to answer it. */
  takeLeftover(decoded: Decoded, key?: string): void {
    if (decoded.kind === "malformed") return this.#options.malformed(decoded.reason)
    const message: Envelope = decoded.message
    const { line } = decoded
    const fate = fateOf(message)
    if (fate.fate === "event") return this.#takeEvent(message, line, fate.key ?? key)
    if (fate.fate !== "question") return undefined
    return this.#options.keep(message, { line, key: questionKey(fate.requestId) })
  }

  /** Resolves when the questions that came so far are asks, or refused. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay)
  }

  /** The same process is back and may say again what it said. */
  replayBegins(): void {
    this.#replay.begin()
  }

  /** The reply to `initialize` came, or never will: what is left of the deltas is the sentence in progress. */
  replayEnds(): void {
    for (const { line, message } of this.#replay.end()) this.#options.pipeline.delta(line, message)
  }

  /** The questions that the agent has open, as its reply to `initialize` lists them. */
  takePending(questions: readonly Readonly<Record<string, unknown>>[]): void {
    for (const message of questions) {
      if (typeof message["type"] !== "string") continue
      const line = JSON.stringify(message)
      const asked = normaliseAgentMessage({ ...message, type: message["type"] })
      this.take({ kind: "unknown", why: "type", message: asked, line })
    }
  }

  #takeEvent(message: Envelope, line: string, key: string | undefined): void {
    if (message["isReplay"] === true && key !== undefined) {
      this.#options.absorbed("echo")
      this.#options.echoed(key)
    }
    this.#options.keep(message, key === undefined ? { line } : { line, key })
  }

  async #begin(question: Promise<void>): Promise<void> {
    this.#underWay.add(question)
    try {
      await question
    } finally {
      this.#underWay.delete(question)
    }
  }

  /** One that cannot become an ask is refused: unanswered, it would hang the turn. */
  async #takeQuestion(message: Envelope, line: string, requestId: string): Promise<void> {
    const isRefused = this.#isFull(requestId)
    this.#arriving += 1
    try {
      await this.#openAsk(message, line, { requestId, isRefused })
    } catch (error) {
      const reason = error instanceof HubError ? error.message : "it could not be kept"
      this.#reply(composeError(requestId, `the hub cannot take this question: ${reason}`))
      if (!(error instanceof HubError)) throw error
    } finally {
      this.#arriving -= 1
    }
  }

  async #openAsk(message: Envelope, line: string, how: { requestId: string; isRefused: boolean }): Promise<void> {
    const { sessionId, asks, log, now, wire, record, touched } = this.#options
    const { requestId, isRefused } = how
    const request = fieldOf(message, "request")
    const incarnation = wire()?.incarnation
    if (request === undefined) return
    const key = questionKey(requestId)
    const stored = (await record(message, { line, key })) ?? (await log.find(sessionId, key))
    // What a process that is gone had asked is history, and nobody's to answer.
    if (incarnation === undefined) return
    if (isRefused) throw new HubError("hub/busy", `${MAX_OPEN_QUESTIONS} of this agent's are open already`)
    const takesUnanswered = this.#options.traits().takesUnanswered
    const seq = stored?.seq ?? 0
    // An id that another process used before may stand for another question there.
    const isInEvent = stored?.line === line
    await asks.open({ sessionId, incarnation, requestId, request, seq, isInEvent, askedAt: now(), takesUnanswered })
    touched()
  }

  /** Those that are open already may be brought again. */
  #isFull(requestId: string): boolean {
    const { sessionId, asks, wire } = this.#options
    if (asks.pendingCount(sessionId) + this.#arriving < MAX_OPEN_QUESTIONS) return false
    return asks.find(wire()?.incarnation ?? "", requestId) === undefined
  }

  async #cancel(requestId: string): Promise<void> {
    const { asks, pipeline, wire, touched } = this.#options
    const incarnation = wire()?.incarnation
    // The question may still be on its way into the log, and from there to the asks.
    await Promise.allSettled([pipeline.settled(), ...this.#underWay])
    if (incarnation !== undefined) await asks.cancelled(incarnation, requestId)
    touched()
  }

  /** Nobody takes it: a hook fails open, anything else gets a clean error. Unanswered, it would hang the turn. */
  #refuseCall(requestId: string, request: Readonly<Record<string, unknown>>): void {
    const subtype = textOf(request, "subtype") ?? "?"
    const answer =
      subtype === "hook_callback"
        ? composeSuccess(requestId, {})
        : composeError(requestId, `nobody is here to answer ${subtype}`, "unsupported_request")
    this.#reply(answer)
  }

  #reply(answer: Envelope): void {
    const wire = this.#options.wire()
    if (wire !== undefined) this.#options.background(wire.send(answer))
  }
}

/** As they are counted. A few names: what an agent makes up is none. */
const ABSORBED_CALLS: ReadonlyMap<unknown, string> = new Map([
  ["hook_callback", "hook"],
  ["mcp_message", "mcp"],
])
