import { randomUUID } from "node:crypto"
import { composeCancel, type Envelope, encode, textOf } from "@signalbox/protocol"
import type { HubSettings } from "@signalbox/protocol/hub-api"
import { answerOfWire } from "../asks/answer.ts"
import type { AskDesk } from "../asks/ask-desk.ts"
import { mayAnswer } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { Ask, AskRecord } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import type { LiveSession } from "../session/live-session.ts"
import { onceFor } from "../viewers/fan-out.ts"

export interface AskViewOptions {
  readonly asks: AskDesk
  readonly port: ClientPort
  readonly caller: Caller
  readonly settings: () => HubSettings
  readonly session: () => LiveSession
}

/** The agent's questions as one client sees them: shown once each, and taken back when somebody else has answered. */
export class AskView {
  readonly #options: AskViewOptions
  /** Asks that were shown, each with the id of this client's answer once it gave one. */
  readonly #shown = new Map<string, string | undefined>()

  constructor(options: AskViewOptions) {
    this.#options = options
  }

  /** For the reply to `initialize`, where questions of each kind have a list of their own. */
  async pending(): Promise<readonly Ask[]> {
    const pending = new Map<string, Ask>()
    await this.#eachOpen((ask) => {
      if (!this.#shown.has(ask.id)) this.#shown.set(ask.id, undefined)
      pending.set(ask.id, ask)
    })
    // Whatever was settled while the others were read was taken back already.
    return [...pending.values()].filter(({ id }) => this.#shown.has(id))
  }

  /** The open questions, for a client that will not ask for them with `initialize`. */
  showOpen(): Promise<void> {
    const before = new Set(this.#shown.keys())
    // An ask that came up meanwhile was shown as it came.
    return this.#eachOpen((ask) => {
      if (before.has(ask.id) || !this.#shown.has(ask.id)) this.#show(ask)
    })
  }

  async #eachOpen(take: (ask: Ask) => void): Promise<void> {
    const { asks, session } = this.#options
    await asks.tellOpen(session().id, async (ask) => {
      take(ask)
      return true
    })
  }

  #show(ask: Ask): void {
    if (!this.#shown.has(ask.id)) this.#shown.set(ask.id, undefined)
    this.#options.port.ask(questionLine(ask))
  }

  changed(ask: Ask): void {
    if (ask.state === "pending") {
      if (!this.#shown.has(ask.id)) this.#show(ask)
      return
    }
    if (!this.#shown.has(ask.id)) return
    const own = this.#shown.get(ask.id)
    this.#shown.delete(ask.id)
    if (own === undefined || own !== ask.answerId) this.#options.port.ask(cancelLine(ask.requestId))
  }

  /** An error never settles an ask: it says that this client cannot answer, not that nobody can. A late answer is dropped. */
  async answer(requestId: string, response: Readonly<Record<string, unknown>>): Promise<void> {
    const { asks, session, caller, settings } = this.#options
    const { incarnation } = session().kept.own
    const ask = incarnation === null ? undefined : asks.find(incarnation, requestId)
    const answer = ask === undefined ? undefined : answerOfWire(ask, response)
    if (ask === undefined || answer === undefined) return
    if (!mayAnswer(caller.role, answer, settings())) {
      throw new HubError("auth/forbidden", `the role ${caller.role} may not give this permission`)
    }
    // A client without a handler declines by itself, and cannot be told from a person who does.
    if (ask.kind === "elicitation" && textOf(response["response"], "action") === "decline" && this.#othersMay(ask))
      return
    const answerId = randomUUID()
    this.#shown.set(ask.id, answerId)
    const who = { by: caller.name, isNobody: caller.tokenId === "", onlySuggested: caller.role !== "admin" }
    const how = { ...who, via: "person", answerId } as const
    try {
      await asks.answer(ask.id, answer, how)
    } catch (error) {
      if (!(error instanceof HubError) || error.code !== "policy/denies") throw error
      // A program does not answer twice: the call is denied, and the agent is told why.
      await asks.answer(ask.id, { behavior: "deny", message: error.message }, how)
    }
  }

  /** Whether somebody else is there who might say more than this. */
  #othersMay(ask: AskRecord): boolean {
    return this.#options.session().view().viewers > 1 && ask.state === "pending"
  }
}

/** Another client's message, as an agent that echoes would show it. */
const replayLine = onceFor((message: Envelope) => encode({ ...message, isReplay: true }))

/** An event as a raw client sees it; undefined for what is not for it: questions are asks, and control traffic is others'. */
export function clientLine(event: StoredEvent, message: Envelope): string | undefined {
  switch (event.from) {
    case "agent":
      return message.type === "control_request" ? undefined : event.line
    case "client":
      return message.type === "user" ? replayLine(message) : undefined
    case "hub":
      return event.line
  }
}

export function questionOf(ask: Ask): Envelope {
  return { type: "control_request", request_id: ask.requestId, request: ask.request }
}

const questionLine = onceFor((ask: Ask) => encode(questionOf(ask)))

export function cancelLine(requestId: string): string {
  return encode(composeCancel(requestId))
}

/** A note of the hub's to one client, never logged. Programs get types they do not know as they are. */
export function noteLine(subtype: string, details: Readonly<Record<string, unknown>>): string {
  return encode({ type: "hub", subtype, ...details })
}

export function refusalLine({ code, message }: HubError, about: Readonly<Record<string, unknown>> = {}): string {
  return noteLine("refused", { ...about, error: { code, message } })
}

export function forbidden({ role }: Caller, what: string): HubError {
  return new HubError("auth/forbidden", `the role ${role} may not ${what} here: use a token with more rights`)
}

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
