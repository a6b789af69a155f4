import {
  composeError,
  composeSuccess,
  composeUserMessage,
  type Decoded,
  type Envelope,
  encode,
  fieldOf,
  initialSessionState,
  isObject,
  type PeerTraits,
  peerTraits,
  type SessionState,
  stepSession,
  textOf,
  type UnlistedRequest,
} from "@signalbox/protocol"
import type { AskDesk } from "../asks/ask-desk.ts"
import type { NewMessage, SessionView } from "../core.ts"
import { HubError } from "../errors.ts"
import type { StoredEvent } from "../model/event.ts"
import type { KeptSession, SessionPhase, SessionRecord } from "../model/session-record.ts"
import type { Directory } from "../store/directory.ts"
import type { EventLog } from "../store/event-log.ts"
import { AgentControl, type ControlReply, payloadOf } from "./agent-control.ts"
import type { AgentWire } from "./agent-wire.ts"
import { fateOf, questionKey } from "./line-fate.ts"
import { MessageDesk } from "./message-desk.ts"
import { MessageInProgress } from "./message-in-progress.ts"
import { type Published, SessionPipeline } from "./pipeline.ts"
import { ReplayFilter } from "./replay-filter.ts"
import { foldAgentEvent, foldNewProcess, foldUserMessage } from "./session-fold.ts"

export interface LiveSessionOptions {
  readonly kept: KeptSession
  readonly log: EventLog
  readonly directory: Directory
  readonly asks: AskDesk
  /** For everybody who watches; called when it is durable, in the order of the wire. */
  readonly publish: (session: LiveSession, items: readonly Published[]) => void
  /** The record has changed. */
  readonly changed: (session: LiveSession) => void
  /** A request of the agent's that is no ask: a hook, an MCP message, or one we do not know. False: nobody takes it. */
  readonly call: (session: LiveSession, message: Envelope) => boolean
  /** What goes into the first `initialize` to a new process: the hooks that clients want. */
  readonly greeting?: (session: LiveSession, incarnation: string) => Readonly<Record<string, unknown>>
  /** `initialize` is over, answered or not. */
  readonly greeted?: (session: LiveSession) => void
  readonly viewers: (sessionId: string) => number
  readonly trouble: (session: LiveSession, what: string, error: unknown) => void
  readonly now?: () => Date
}

/** Whether the process is the one that was here before; unknown when it did not say. Then its answer to `initialize` tells. */
export type Continuity = "same" | "new" | "unknown"

type Connection =
  | { readonly name: "never" }
  | { readonly name: "connected"; readonly wire: AgentWire; readonly control: AgentControl }
  | { readonly name: "away" }
  | { readonly name: "ended" }

const INITIALIZE_TIMEOUT_MS = 60_000
const NO_TRAITS = peerTraits({})

/** One conversation: its record, its history, its agent when there is one. */
export class LiveSession {
  readonly id: string
  readonly pipeline: SessionPipeline
  readonly messages: MessageDesk
  readonly inProgress = new MessageInProgress()
  readonly #options: LiveSessionOptions
  readonly #replay = new ReplayFilter()
  #kept: KeptSession
  #state: SessionState = initialSessionState
  #connection: Connection
  #isDirty = false

  constructor(options: LiveSessionOptions) {
    this.#options = options
    this.#kept = options.kept
    this.id = options.kept.record.id
    this.#connection = connectionAtStart(options.kept.record.state)
    if (this.#connection.name === "away") this.#state = stateAtStart(options.kept.record)
    this.pipeline = new SessionPipeline({
      session: this.id,
      log: options.log,
      publish: (items) => this.#publish(items),
      onFailed: (error) => options.trouble(this, "the log refused events", error),
    })
    this.messages = new MessageDesk({
      sessionId: this.id,
      directory: options.directory,
      log: options.log,
      record: (message, how) => this.#recordClient(message, how),
      tell: (lifecycle) => this.pipeline.delta(encode(lifecycle), lifecycle),
      ...(options.now === undefined ? {} : { now: options.now }),
    })
  }

  get kept(): KeptSession {
    return this.#kept
  }

  get record(): SessionRecord {
    return this.#kept.record
  }

  get wire(): AgentWire | undefined {
    return this.#connection.name === "connected" ? this.#connection.wire : undefined
  }

  get isEnded(): boolean {
    return this.#connection.name === "ended"
  }

  /** What this agent's CLI can take. Unknown means the oldest. */
  get traits(): PeerTraits {
    const version = this.record.cliVersion
    if (version === null) return NO_TRAITS
    return peerTraits({ claude_code_version: version, capabilities: this.#state.facts.capabilities ?? [] })
  }

  /** Nothing was ever said here: it may become any session. */
  get isEmpty(): boolean {
    return this.record.agentSessionId === null && this.record.lastSeq <= 1 && this.messages.waiting === 0
  }

  view(): SessionView {
    const { asks, viewers } = this.#options
    return { ...this.record, state: this.phase(), pendingAsks: asks.pendingCount(this.id), viewers: viewers(this.id) }
  }

  phase(): SessionPhase {
    switch (this.#connection.name) {
      case "ended":
        return "ended"
      case "never":
        return "starting"
      case "away":
        return "disconnected"
      case "connected":
        if (this.#options.asks.pendingCount(this.id) > 0) return "waiting"
        return this.#isWorking() ? "running" : "idle"
    }
  }

  /** An agent is here. */
  async attach(wire: AgentWire, continuity: Continuity): Promise<void> {
    if (this.#connection.name === "connected") this.#connection.control.close("the agent connected again")
    const control = new AgentControl()
    this.#connection = { name: "connected", wire, control }
    if (continuity === "new") this.#state = initialSessionState
    else {
      this.#state = stepSession(this.#state, { kind: "connected" })
      this.#replay.begin()
    }
    this.change({ transport: wire.transport })
    await this.note("connected", { transport: wire.transport })
    if (continuity === "new") await this.#takeNewProcess(wire)
    // A process that was here has its hooks: a bare `initialize` leaves them as they are.
    const greeting = continuity === "same" ? {} : this.#options.greeting?.(this, wire.incarnation)
    const initialized = this.#initialize(control, wire, greeting)
    const isSame = continuity === "unknown" ? await initialized : continuity === "same"
    if (isSame) {
      await this.messages.sendAgain(wire)
      await this.#options.asks.sendAgain(wire.incarnation)
    } else {
      if (continuity === "unknown") await this.#renew(wire)
      await this.messages.deliver(wire)
    }
    await initialized
  }

  /** The connection is over; the process may live and come back. */
  async detach(wire: AgentWire, reason: string): Promise<void> {
    if (this.#connection.name !== "connected" || this.#connection.wire !== wire) return
    this.#connection.control.close(reason)
    this.#connection = { name: "away" }
    this.#state = stepSession(this.#state, { kind: "disconnected" })
    this.inProgress.clear()
    this.change({ transport: null })
    await this.note("disconnected", { reason })
  }

  /** The conversation goes on elsewhere with the same process: gives its connection away and is over itself. */
  async handOver(next: LiveSession): Promise<void> {
    if (this.#connection.name !== "connected") return
    const connection = this.#connection
    this.#connection = { name: "ended" }
    this.inProgress.clear()
    this.change({ transport: null, next: next.id })
    next.#connection = connection
    next.#state = { ...this.#state }
    next.#keep(foldNewProcess(next.#kept, connection.wire.incarnation))
    next.#keep({ ...next.#kept, own: { ...next.#kept.own, initializeReply: this.#kept.own.initializeReply } })
    next.change({ transport: connection.wire.transport, cliVersion: this.record.cliVersion })
    await this.note("rotated", { next: next.id })
  }

  /** The process ended, or the session was stopped. */
  async end(exit: { reason: string; code?: number; signal?: string }): Promise<void> {
    if (this.#connection.name === "ended") return
    if (this.#connection.name === "connected") this.#connection.control.close(exit.reason)
    this.#connection = { name: "ended" }
    await this.#options.asks.orphan(this.id, null)
    this.change({ transport: null, exit: { ...exit, at: this.now() } })
    await this.note("ended", exit)
  }

  /** A line from the agent, decoded. */
  ingest(decoded: Decoded): void {
    if (decoded.kind === "malformed") return this.#options.trouble(this, "a malformed line", decoded.reason)
    const { message, line } = decoded
    const envelope: Envelope = message
    const fate = fateOf(envelope)
    switch (fate.fate) {
      case "delta":
        return this.#replay.holds(envelope, line) ? undefined : this.pipeline.delta(line, envelope)
      case "event":
        return this.#ingestEvent(envelope, line, fate.key)
      case "question":
        return this.#ingestQuestion(envelope, line, fate.requestId)
      case "cancel":
        this.#options.call(this, envelope)
        return this.#background(this.#cancelled(fate.requestId))
      case "reply":
        if (this.#connection.name === "connected") this.#connection.control.take(envelope)
        return undefined
      case "call":
        if (!this.#options.call(this, envelope)) this.#refuseCall(fate.requestId, fate.request)
        return undefined
      case "absorbed":
        return undefined
    }
  }

  send(message: NewMessage, by: string): Promise<{ uuid: string; seq: number }> {
    const { content, ...options } = message
    return this.sendWire(composeUserMessage(content, { session_id: this.record.agentSessionId ?? "", ...options }), by)
  }

  /** A user message as a client of the wire wrote it, with whatever fields it has. */
  async sendWire(message: Envelope, by: string): Promise<{ uuid: string; seq: number }> {
    if (this.record.next !== undefined) throw rotated(this.record.next)
    if (this.isEnded) throw noAgent("the session has ended")
    const accepted = await this.messages.accept(message, by)
    const { wire } = this
    if (wire !== undefined) this.#background(this.messages.deliver(wire))
    return accepted
  }

  /** The agent's payload; refusals, time-outs and its absence are errors. */
  async control(request: UnlistedRequest, timeoutMs: number): Promise<unknown> {
    return payloadOf(await this.ask(request, timeoutMs), request.subtype)
  }

  ask(request: UnlistedRequest, timeoutMs: number): Promise<ControlReply> {
    if (this.#connection.name !== "connected") return Promise.reject(noAgent("no agent is connected"))
    return this.#connection.control.ask(this.#connection.wire, request, timeoutMs)
  }

  /** Interrupts and changes of mode or model are part of the history. */
  recordRequest(request: UnlistedRequest, by: string): Promise<StoredEvent | undefined> {
    const message: Envelope = { type: "control_request", request_id: "", request }
    return this.#record("client", message, { by, line: encode(message) })
  }

  recordAnswer(message: Envelope, by: string): Promise<StoredEvent | undefined> {
    return this.#record("client", message, { by, line: encode(message) })
  }

  /** A note of the hub's own, in the log. */
  note(what: string, details: Readonly<Record<string, unknown>> = {}): Promise<StoredEvent | undefined> {
    const message: Envelope = { type: "hub", subtype: what, ...details }
    return this.#record("hub", message, { line: encode(message) })
  }

  change(change: Partial<SessionRecord>): void {
    this.#keep({ ...this.#kept, record: { ...this.record, ...change } })
  }

  setKept(kept: KeptSession): void {
    this.#keep(kept)
  }

  now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }

  /** What it says is durable and shown when this resolves. */
  async settled(): Promise<void> {
    await this.pipeline.settled()
  }

  /** Asks came or went: the phase may be another. */
  touch(): void {
    this.#keep({ ...this.#kept, record: { ...this.record } })
  }

  async #renew(wire: AgentWire): Promise<void> {
    wire.renew()
    this.#state = initialSessionState
    await this.#takeNewProcess(wire)
  }

  async #takeNewProcess(wire: AgentWire): Promise<void> {
    await this.#options.asks.orphan(this.id, wire.incarnation)
    this.#keep(foldNewProcess(this.#kept, wire.incarnation))
    for (const lost of await this.messages.newProcess(wire.incarnation)) {
      await this.note("message_unknown", { uuid: lost.uuid })
    }
  }

  /**
   * The hub speaks first and owns `initialize`. Sent again after a reconnect it brings the questions that got lost. Tells
   * whether the process was initialized before: then it is one that was here already.
   */
  async #initialize(control: AgentControl, wire: AgentWire, greeting: object = {}): Promise<boolean> {
    try {
      const request = { ...greeting, subtype: "initialize" }
      const reply = await control.ask(wire, request, INITIALIZE_TIMEOUT_MS)
      const payload = reply["response"]
      if (reply["subtype"] === "success" && isObject(payload)) {
        this.#keep({ ...this.#kept, own: { ...this.#kept.own, initializeReply: payload } })
        const version = textOf(payload, "claude_code_version")
        if (version !== undefined) this.change({ cliVersion: version })
      }
      this.#replayOver()
      this.#takePending(reply)
      return reply["subtype"] === "error"
    } catch (error) {
      this.#replayOver()
      this.#options.trouble(this, "initialize was not answered", error)
      return false
    } finally {
      this.#options.greeted?.(this)
    }
  }

  #replayOver(): void {
    for (const { line, message } of this.#replay.end()) this.pipeline.delta(line, message)
  }

  #takePending(reply: ControlReply): void {
    for (const name of PENDING_LISTS) {
      const list = reply[name]
      if (!Array.isArray(list)) continue
      for (const message of list) {
        if (!isObject(message) || typeof message["type"] !== "string") continue
        this.ingest({
          kind: "unknown",
          why: "type",
          message: { ...message, type: message["type"] },
          line: JSON.stringify(message),
        })
      }
    }
  }

  #ingestEvent(message: Envelope, line: string, key: string | undefined): void {
    const uuid = textOf(message, "uuid")
    if (message["isReplay"] === true && uuid !== undefined) this.messages.confirm(uuid)
    this.#replay.sawEvent()
    this.#background(this.#record("agent", message, { line, ...(key === undefined ? {} : { key }) }))
  }

  #ingestQuestion(message: Envelope, line: string, requestId: string): void {
    const request = fieldOf(message, "request")
    const { wire } = this
    if (request === undefined || wire === undefined) return
    const key = questionKey(requestId)
    const open = async () => {
      const stored =
        (await this.#record("agent", message, { line, key })) ?? (await this.#options.log.find(this.id, key))
      const seq = stored?.seq ?? 0
      const { incarnation } = wire
      await this.#options.asks.open({ sessionId: this.id, incarnation, requestId, request, seq, askedAt: this.now() })
      this.touch()
    }
    this.#background(open())
  }

  async #cancelled(requestId: string): Promise<void> {
    const { wire } = this
    // The question may still be on its way into the log.
    await this.pipeline.settled()
    if (wire !== undefined) await this.#options.asks.cancelled(wire.incarnation, requestId)
    this.touch()
  }

  /** Nobody takes it: a hook fails open, anything else gets a clean error. Unanswered, it would hang the turn. */
  #refuseCall(requestId: string, request: Readonly<Record<string, unknown>>): void {
    const subtype = textOf(request, "subtype") ?? "?"
    const answer =
      subtype === "hook_callback"
        ? composeSuccess(requestId, {})
        : composeError(requestId, `nobody is here to answer ${subtype}`, "unsupported_request")
    const { wire } = this
    if (wire !== undefined) this.#background(wire.send(answer))
  }

  #recordClient(message: Envelope, how: { by: string; key: string; line: string }): Promise<StoredEvent | undefined> {
    return this.#record("client", message, how)
  }

  #record(
    from: "agent" | "client" | "hub",
    message: Envelope,
    how: { line: string; by?: string; key?: string },
  ): Promise<StoredEvent | undefined> {
    const at = (this.#options.now?.() ?? new Date()).getTime()
    return this.pipeline.event({ at, from, ...how }, message, { synced: from === "client" })
  }

  #publish(items: readonly Published[]): void {
    for (const item of items) this.#fold(item)
    this.#options.publish(this, items)
  }

  #fold(item: Published): void {
    const { message } = item
    if (item.kind === "delta") {
      this.inProgress.take(message, item.line)
      this.#step({ kind: "received", message })
      return
    }
    const { event } = item
    const at = new Date(event.at).toISOString()
    const before = this.#kept
    let next = before
    if (event.from === "agent") {
      this.#step({ kind: "received", message })
      next = foldAgentEvent(before, message, at)
      this.#confirmFrom(message)
    } else if (event.from === "client" && message.type === "user") {
      this.#step({ kind: "sent", message })
      next = foldUserMessage(before, message, at)
    }
    const uuid = event.from === "agent" ? textOf(message, "uuid") : undefined
    const own = uuid === undefined ? next.own : { ...next.own, lastAgentUuid: uuid }
    this.#keep({ record: { ...next.record, lastSeq: event.seq, updatedAt: at }, own })
  }

  #confirmFrom(message: Envelope): void {
    const { wire } = this
    if (message.type === "system" && message["subtype"] === "init") this.messages.confirmSent()
    if (message.type === "result") {
      this.inProgress.clear()
      if (wire !== undefined) this.#options.asks.confirm(wire.incarnation, undefined)
    }
    if (message.type === "user" && wire !== undefined) {
      for (const id of toolResultsIn(message)) this.#options.asks.confirm(wire.incarnation, id)
    }
  }

  #step(input: Parameters<typeof stepSession>[1]): void {
    const before = this.phase()
    this.#state = stepSession(this.#state, input)
    if (this.phase() !== before) this.touch()
  }

  #isWorking(): boolean {
    const { phase } = this.#state
    if (phase === "waiting" || phase === "starting" || phase === "disconnected") return this.#state.activity !== "idle"
    return phase === "running" || phase === "compacting"
  }

  /** Kept and told once per tick, however much changed in it. */
  #keep(kept: KeptSession): void {
    this.#kept = kept
    if (this.#isDirty) return
    this.#isDirty = true
    setImmediate(() => {
      this.#isDirty = false
      this.#kept = { ...this.#kept, record: { ...this.#kept.record, state: this.phase() } }
      this.#background(this.#options.directory.saveSession(this.#kept))
      this.#options.changed(this)
    })
  }

  #background(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#options.trouble(this, "something failed in the background", error))
  }
}

const PENDING_LISTS = ["pending_permission_requests", "pending_user_dialog_requests", "pending_elicitation_requests"]

function connectionAtStart(state: SessionPhase): Connection {
  if (state === "ended") return { name: "ended" }
  return state === "starting" ? { name: "never" } : { name: "away" }
}

/** A turn that was under way when the hub went down is taken to be still under way. */
function stateAtStart({ turnStartedAt }: SessionRecord): SessionState {
  const activity = turnStartedAt === undefined ? "idle" : "running"
  return { phase: "disconnected", requestIds: [], activity, hasSpoken: true, facts: {} }
}

function toolResultsIn(message: Envelope): readonly string[] {
  const content = fieldOf(message, "message")?.["content"]
  if (!Array.isArray(content)) return []
  return content.flatMap((block) => {
    const id = isObject(block) && block["type"] === "tool_result" ? textOf(block, "tool_use_id") : undefined
    return id === undefined ? [] : [id]
  })
}

function noAgent(why: string): HubError {
  return new HubError("session/no-agent", `${why}: start an agent for it, or make a new session`)
}

function rotated(next: string): HubError {
  return new HubError("session/rotated", `the conversation goes on in session ${next}`, { details: { next } })
}
