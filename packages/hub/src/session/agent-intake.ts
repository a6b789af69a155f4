import { setTimeout as delay } from "node:timers/promises"
import {
  composeError,
  composeSuccess,
  type Decoded,
  type Envelope,
  fieldOf,
  isQuestion,
  textOf,
  toolDenial,
} from "@signalbox/protocol"
import { createAgentReader, normaliseAgentMessage } from "@signalbox/protocol/dialects"
import { HubError } from "../errors.ts"
import { endsSentence } from "./history.ts"
import { isEnforcing } from "./kept-record.ts"
import type { LiveSession } from "./live-session.ts"
import type { SessionHub } from "./session-hub.ts"
import type { SessionRegistry } from "./session-registry.ts"

/** Bound for one session at a time. No well-meaning agent has as many. */
const MAX_OPEN_QUESTIONS = 1_000
const MAX_HELD = 2_000

/** Turns an agent's lines into events, deltas, asks, replies and calls. */
export class AgentIntake {
  readonly #session: LiveSession
  readonly #hub: SessionHub
  /**
   * Deltas of a process that is back. Some CLIs send all they kept again: deltas are held back until the replay is over. Those
   * before an event that the log has, or that is complete by now, are dropped; what is left is the sentence in progress.
   */
  #held: { readonly line: string; readonly message: Envelope }[] | undefined
  readonly #underWay = new Set<Promise<void>>()
  /** Questions that are to become asks, by process and id: another process may use the same id for another question. */
  readonly #onTheirWay = new Set<string>()

  constructor(session: LiveSession, hub: SessionHub) {
    this.#session = session
    this.#hub = hub
  }

  /** `key` is for an event that has none of its own: whoever brings it may bring it again. */
  take(decoded: Decoded, key?: string): void {
    if (decoded.kind === "malformed") return this.#hub.trouble(this.#session, "a malformed line", decoded.reason)
    const { line } = decoded
    const message: Envelope = decoded.message
    const fate = fateOf(message)
    this.#session.messages.heard(message)
    switch (fate.fate) {
      case "delta":
        if (this.#held === undefined) this.#session.history.delta(line, message)
        else if (this.#held.length < MAX_HELD) this.#held.push({ line, message })
        return undefined
      case "event":
        // A message that is whole makes the deltas before it useless.
        if (this.#held !== undefined && endsSentence(message)) this.#held = []
        return this.#keep(message, { line, key: fate.key ?? key, isLeftover: false })
      case "question":
        // The list of what the agent has open, or the agent that is back, may bring one that is on its way.
        if (this.#onTheirWay.has(this.#placeOf(fate.requestId))) return undefined
        return this.#session.background(this.#begin(this.#takeQuestion(message, line, fate.requestId)))
      case "cancel":
        this.#hub.clients.call(this.#session, message)
        return this.#session.background(this.#cancel(fate.requestId))
      case "reply":
        return this.#session.replied(message)
      case "call":
        this.#absorbed(ABSORBED_CALLS.get(fate.request["subtype"]) ?? "call")
        if (!this.#hub.clients.call(this.#session, message)) this.#refuseCall(fate.requestId, fate.request)
        return undefined
      case "absorbed":
        return this.#absorbed("keep_alive")
    }
  }

  /** A line of a process that is not the one that is here: it goes into the history, and nobody is to answer it. */
  takeLeftover(decoded: Decoded, key?: string): void {
    if (decoded.kind === "malformed") return this.take(decoded)
    const message: Envelope = decoded.message
    const { line } = decoded
    const fate = fateOf(message)
    if (fate.fate === "event") return this.#keep(message, { line, key: fate.key ?? key, isLeftover: true })
    if (fate.fate !== "question") return undefined
    return this.#session.history.keep(message, { line, key: questionKey(fate.requestId) })
  }

  /** Resolves when the questions that came so far are asks, or refused. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay)
  }

  /** The same process is back and may say again what it said. */
  replayBegins(): void {
    this.#held = []
  }

  /** The reply to `initialize` came, or never will: what is left of the deltas is the sentence in progress. */
  replayEnds(): void {
    const held = this.#held ?? []
    this.#held = undefined
    for (const { line, message } of held) this.#session.history.delta(line, message)
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

  /** The policy's enforcer hears of an event, and of its place in the log. */
  #keep(
    message: Envelope,
    { line, key, isLeftover }: { line: string; key: string | undefined; isLeftover: boolean },
  ): void {
    const { history, kept } = this.#session
    const how = this.#howToKeep(message, line, key)
    if (!isEnforcing(kept)) return history.keep(message, how)
    this.#hub.clients.heard(this.#session, { message, stored: history.record("agent", message, how), isLeftover })
  }

  #howToKeep(message: Envelope, line: string, key: string | undefined) {
    if (message["isReplay"] === true && key !== undefined) {
      this.#absorbed("echo")
      this.#session.messages.confirm(key)
    }
    return key === undefined ? { line } : { line, key }
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
    const { wire } = this.#session
    const place = this.#placeOf(requestId)
    this.#onTheirWay.add(place)
    try {
      for (;;) {
        try {
          return await this.#openAsk(message, line, { requestId, isRefused, incarnation: wire?.incarnation })
        } catch (error) {
          if (!passesByItself(error)) throw error
          // The agent brings it again when it is back, to this hub or to the one that has the session then.
          if (wire === undefined || this.#session.wire?.incarnation !== wire.incarnation) return wire?.giveUp()
        }
        // A store that cannot be read now can be read again: until then the agent waits for its answer, as for any.
        await delay(RETRY_MS, undefined, { ref: false })
      }
    } catch (error) {
      const reason = error instanceof HubError ? error.message : "it could not be kept"
      this.#reply(composeError(requestId, `the hub cannot take this question: ${reason}`))
      if (!(error instanceof HubError)) throw error
    } finally {
      this.#onTheirWay.delete(place)
    }
  }

  #placeOf(requestId: string): string {
    return `${this.#session.wire?.incarnation ?? ""} ${requestId}`
  }

  async #openAsk(message: Envelope, line: string, how: Opening): Promise<void> {
    const { id: sessionId, history } = this.#session
    const { asks, log } = this.#hub
    const { requestId, isRefused, incarnation } = how
    const request = fieldOf(message, "request")
    if (request === undefined) return
    const key = questionKey(requestId)
    const stored = (await history.record("agent", message, { line, key })) ?? (await log.find(sessionId, key))
    // A question of a process that is gone is history, and nobody's to answer.
    if (incarnation === undefined) return
    if (isRefused) throw new HubError("hub/busy", `${MAX_OPEN_QUESTIONS} of this agent's are open already`)
    const takesUnanswered = this.#session.traits.takesUnanswered
    const seq = stored?.seq ?? 0
    // An id that another process used before may stand for another question there.
    const isInEvent = stored?.line === line
    const askedAt = this.#session.now()
    await asks.open({ sessionId, incarnation, requestId, request, seq, isInEvent, askedAt, takesUnanswered })
    this.#session.touch()
  }

  /** Those that are open already may be brought again. */
  #isFull(requestId: string): boolean {
    const { asks } = this.#hub
    if (asks.pendingCount(this.#session.id) + this.#onTheirWay.size < MAX_OPEN_QUESTIONS) return false
    return asks.find(this.#session.wire?.incarnation ?? "", requestId) === undefined
  }

  async #cancel(requestId: string): Promise<void> {
    const { history, wire } = this.#session
    const incarnation = wire?.incarnation
    // The question may still be on its way into the log, and from there to the asks.
    await Promise.allSettled([history.settled(), ...this.#underWay])
    if (incarnation !== undefined) await this.#hub.asks.cancelled(incarnation, requestId)
    this.#session.touch()
  }

  /** Nobody takes it: a hook fails open unless the policy is enforced, anything else gets a clean error. Unanswered, it would hang the turn. */
  #refuseCall(requestId: string, request: Readonly<Record<string, unknown>>): void {
    const subtype = textOf(request, "subtype") ?? "?"
    const answer =
      subtype === "hook_callback"
        ? composeSuccess(requestId, isEnforcing(this.#session.kept) ? toolDenial(NOT_JUDGED) : {})
        : composeError(requestId, `nobody is here to answer ${subtype}`, "unsupported_request")
    this.#reply(answer)
  }

  #reply(answer: Envelope): void {
    const { wire } = this.#session
    if (wire !== undefined) this.#session.background(wire.send(answer))
  }

  /** Seen and not logged. */
  #absorbed(kind: string): void {
    this.#hub.metrics.lineAbsorbed(kind)
  }
}

interface Opening {
  readonly requestId: string
  readonly isRefused: boolean
  /** The process that asked: undefined if it is gone. */
  readonly incarnation: string | undefined
}

const RETRY_MS = 500

/** The store is in trouble, the session another hub's, or this hub stops: no answer to a question. */
function passesByItself(error: unknown): boolean {
  return error instanceof HubError && ["store/failed", "store/full", "hub/moved", "hub/stopping"].includes(error.code)
}

const NOT_JUDGED = "The hub could not judge this tool call, so it is denied. Try again."

/** As they are counted. A few names: what an agent makes up is none. */
const ABSORBED_CALLS: ReadonlyMap<unknown, string> = new Map([
  ["hook_callback", "hook"],
  ["mcp_message", "mcp"],
])

/** The fate of a line that an agent wrote. */
export type LineFate =
  /** Kept and numbered. A line whose key the log has already is not kept again. */
  | { readonly fate: "event"; readonly key?: string }
  /** Shown live, never numbered. */
  | { readonly fate: "delta" }
  /** A question that a person or program can answer: kept, and an ask. */
  | { readonly fate: "question"; readonly requestId: string; readonly request: Readonly<Record<string, unknown>> }
  /** The agent takes one of its questions back. */
  | { readonly fate: "cancel"; readonly requestId: string }
  /** The reply to a request of ours. */
  | { readonly fate: "reply"; readonly requestId: string }
  /** For the client that registered the hook or hosts the MCP server. */
  | { readonly fate: "call"; readonly requestId: string; readonly request: Readonly<Record<string, unknown>> }
  | { readonly fate: "absorbed" }

const EVENT: LineFate = { fate: "event" }
const DELTA: LineFate = { fate: "delta" }
const ABSORBED: LineFate = { fate: "absorbed" }

export function fateOf(message: Envelope): LineFate {
  switch (message.type) {
    case "stream_event":
    case "tool_progress":
    case "command_lifecycle":
      return DELTA
    case "keep_alive":
      return ABSORBED
    case "auth_status":
      return isUneventful(message) ? ABSORBED : keyed(message)
    case "system":
      return isPassing(message) ? DELTA : keyed(message)
    case "control_request":
      return fateOfRequest(message)
    case "control_cancel_request": {
      const requestId = textOf(message, "request_id")
      return requestId === undefined ? EVENT : { fate: "cancel", requestId }
    }
    case "control_response": {
      const requestId = textOf(fieldOf(message, "response"), "request_id")
      return requestId === undefined ? EVENT : { fate: "reply", requestId }
    }
    default:
      return keyed(message)
  }
}

/** The echo of a message of ours has its `uuid`, which the log has already: it is not kept twice. */
function keyed(message: Envelope): LineFate {
  const key = textOf(message, "uuid")
  return key === undefined ? EVENT : { fate: "event", key }
}

/** Every agent that is asked for its sign-in says this at its start: it neither signs in nor failed to. */
function isUneventful({ isAuthenticating, output, error }: Envelope): boolean {
  return isAuthenticating === false && Array.isArray(output) && output.length === 0 && error == null
}

/** Tells how something under way is going; what came of it is told by another line. */
function isPassing(message: Envelope): boolean {
  if (message["subtype"] === "thinking_tokens") return true
  if (message["subtype"] !== "status") return false
  if (message["status"] === "requesting") return true
  const tells = ["permissionMode", "compact_result", "compact_error"].some((name) => message[name] !== undefined)
  return message["status"] === null && !tells
}

function fateOfRequest(message: Envelope): LineFate {
  const requestId = textOf(message, "request_id")
  const request = fieldOf(message, "request")
  if (requestId === undefined || request === undefined) return EVENT
  return isQuestion(request["subtype"])
    ? { fate: "question", requestId, request }
    : { fate: "call", requestId, request }
}

/** One event per question, however often the agent or a reconnect brings it. */
export function questionKey(requestId: string): string {
  return `request:${requestId}`
}

export interface LineRouterOptions {
  readonly session: LiveSession
  readonly registry: SessionRegistry
  /** It speaks in its session and those that came of it, and in no other. */
  readonly isBound: boolean
  /** The process that speaks, where it is known for good: what it says may come when another is there already. */
  readonly spawn?: string
}

/** Bound for one connection. */
const MAX_NOTED_MALFORMED = 100
const MAX_ROTATIONS = 60
const ROTATION_WINDOW_MS = 60_000

/** Brings the lines of one connection to the session they belong to: the conversation may go on in another. */
export class LineRouter {
  readonly #options: LineRouterOptions
  /** Reads a line of this connection; each is read once. */
  readonly read = createAgentReader()
  #session: LiveSession
  #malformed = 0
  /** When the conversation went on in another session, lately. */
  #rotations: readonly number[] = []

  constructor(options: LineRouterOptions) {
    this.#options = options
    this.#session = options.session
  }

  get session(): LiveSession {
    // One that nobody knew was found to belong elsewhere, and not by what it named.
    if (this.#options.spawn === undefined) this.#session = this.#session.holder
    return this.#session
  }

  /** Awaited only if there is something to await. `key` is for an event that has none of its own. */
  take(decoded: Decoded, key?: string): void | Promise<void> {
    const current = this.session
    if (decoded.kind === "malformed") {
      // Each is noted in the log: the first of them tell enough.
      this.#malformed += 1
      if (this.#malformed > MAX_NOTED_MALFORMED) return undefined
    } else {
      const session = this.#route(decoded.message)
      // By far the most lines belong where the last one did: nothing is awaited for them.
      if (session !== current) return this.#takeElsewhere(session, decoded, key)
    }
    current.ingest(decoded, key, this.#options.spawn)
    return undefined
  }

  async #takeElsewhere(session: LiveSession | Promise<LiveSession>, decoded: Decoded, key?: string): Promise<void> {
    this.#session = await session
    this.#session.ingest(decoded, key, this.#options.spawn)
  }

  #route(message: Envelope): LiveSession | Promise<LiveSession> {
    const id = message["session_id"]
    if (id === undefined || id === this.#session.record.agentSessionId) return this.#session
    // Said before a conversation begins: the id that it names has no record yet, and may never have one.
    if (message.type === "auth_status") return this.#session
    // A conversation goes on elsewhere with the process that is here, and with no other.
    const { spawn } = this.#options
    if (spawn !== undefined && !this.#session.isSpokenForBy(spawn)) return this.#session
    return this.#mayRotate() ? this.#rotate(message) : this.#session
  }

  async #rotate(message: Envelope): Promise<LiveSession> {
    const next = await this.#options.registry.route(this.#session, message, this.#options.isBound)
    if (next !== this.#session) this.#rotations = [...this.#rotations, performance.now()]
    return next
  }

  /** Sessions are for good: an agent that names a new one with every line goes on in the one it has. */
  #mayRotate(): boolean {
    const since = performance.now() - ROTATION_WINDOW_MS
    if (this.#rotations.length < MAX_ROTATIONS) return true
    this.#rotations = this.#rotations.filter((at) => at > since)
    return this.#rotations.length < MAX_ROTATIONS
  }
}
