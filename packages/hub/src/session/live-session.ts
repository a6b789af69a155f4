import {
  composeUserMessage,
  type Decoded,
  type Envelope,
  encode,
  initialSessionState,
  type PeerTraits,
  peerTraits,
  type SessionState,
  stepSession,
  type UnlistedRequest,
} from "@signalbox/protocol"
import type { NewMessage, SessionView } from "../core.ts"
import { HubError } from "../errors.ts"
import type { StoredEvent } from "../model/event.ts"
import type { KeptSession, SessionPhase, SessionRecord } from "../model/session-record.ts"
import { wireObject } from "../model/wire-object.ts"
import { AgentControl, type ControlReply, payloadOf } from "./agent-control.ts"
import { AgentIntake } from "./agent-intake.ts"
import type { AgentWire } from "./agent-wire.ts"
import { type Connection, type Continuity, connectionAtStart, isWorking, stateAtStart } from "./connection.ts"
import { type Greeted, greetAgent } from "./greet-agent.ts"
import { KeptRecord } from "./kept-record.ts"
import type { LiveSessionOptions } from "./live-session-options.ts"
import { MessageDesk } from "./message-desk.ts"
import { MessageInProgress } from "./message-in-progress.ts"
import { type Published, SessionPipeline } from "./pipeline.ts"
import { takeReceipts } from "./receipts.ts"
import { foldEvent, foldHandOver, foldInitializeReply, foldNewProcess } from "./session-fold.ts"

const CATCH_UP_PAGE = 1_000
const NOTHING: Envelope = { type: "unknown" }
const NO_TRAITS = peerTraits({})

/** One conversation: its record, its history, its agent when there is one. */
export class LiveSession {
  readonly id: string
  readonly pipeline: SessionPipeline
  readonly messages: MessageDesk
  readonly inProgress = new MessageInProgress()
  readonly #options: LiveSessionOptions
  readonly #intake: AgentIntake
  readonly #kept: KeptRecord
  #state: SessionState = initialSessionState
  #connection: Connection

  constructor(options: LiveSessionOptions) {
    this.#options = options
    this.id = options.kept.record.id
    this.#kept = new KeptRecord({
      kept: options.kept,
      complete: ({ record, own }) => ({ record: { ...record, state: this.phase() }, own }),
      save: (kept) => this.#background(options.directory.saveSession(kept)),
      tell: () => options.changed(this),
    })
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
      record: (message, how) => this.#record("client", message, how),
      tell: (lifecycle) => this.pipeline.delta(encode(lifecycle), lifecycle),
      ...(options.now === undefined ? {} : { now: options.now }),
    })
    this.#intake = this.#openIntake()
  }

  get kept(): KeptSession {
    return this.#kept.value
  }

  get record(): SessionRecord {
    return this.#kept.value.record
  }

  get wire(): AgentWire | undefined {
    return this.#connection.name === "connected" ? this.#connection.wire : undefined
  }

  /** The agent's connection, once it is decided which process it is and it was greeted. */
  get greetedWire(): AgentWire | undefined {
    return this.#connection.name === "connected" && this.#connection.isGreeted ? this.#connection.wire : undefined
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
        return isWorking(this.#state) ? "running" : "idle"
    }
  }

  /** An agent is here. */
  async attach(wire: AgentWire, continuity: Continuity): Promise<void> {
    if (this.#connection.name === "connected") this.#connection.control.close("the agent connected again")
    const connectedAt = performance.now()
    const connection = { name: "connected", wire, control: new AgentControl() } as const
    this.#connection = { ...connection, isGreeted: false }
    if (continuity === "new") this.#state = initialSessionState
    else {
      this.#state = stepSession(this.#state, { kind: "connected" })
      this.#intake.replayBegins()
    }
    this.change({ transport: wire.transport })
    await this.note("connected", { transport: wire.transport })
    if (continuity === "new") await this.#takeNewProcess(wire)
    const greeted = this.#greet(connection.control, wire, continuity)
    const isSame = continuity === "unknown" ? (await greeted) === "before" : continuity === "same"
    // Gone while it was asked: whichever process it was, it says so when it is back.
    if (this.wire !== wire) return
    if (continuity === "unknown" && !isSame) await this.#renew(wire)
    this.#connection = { ...connection, isGreeted: true }
    if (isSame) {
      await this.messages.sendAgain(wire)
      await this.#options.asks.sendAgain(wire.incarnation, connectedAt)
    } else {
      await this.messages.deliver(wire)
    }
    await greeted
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
    // It speaks, and a new process says nothing before it is spoken to.
    next.#connection = { ...connection, isGreeted: true }
    this.messages.moveTo(next.messages)
    next.#background(next.messages.deliver(connection.wire))
    next.#state = { ...this.#state }
    // One that comes back to its own goes on there: what followed it then does not follow it now.
    const { next: _followed, ...record } = next.record
    next.#kept.change(foldHandOver({ ...next.kept, record }, this.kept))
    next.change({ transport: connection.wire.transport, cliVersion: this.record.cliVersion })
    await this.note("rotated", { next: next.id })
  }

  /** The process ended, or the session was stopped. */
  async end(exit: { reason: string; code?: number; signal?: string }): Promise<void> {
    if (this.#connection.name === "ended") return
    if (this.#connection.name === "connected") this.#connection.control.close(exit.reason)
    this.#connection = { name: "ended" }
    const { incarnation } = this.kept.own
    await this.#options.asks.orphan({ sessionId: this.id, incarnation, except: null })
    this.change({ transport: null, exit: { ...exit, at: this.now() } })
    await this.note("ended", exit)
  }

  /** A line from the agent, decoded. */
  ingest(decoded: Decoded): void {
    this.#intake.take(decoded)
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
    const wire = this.greetedWire
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

  recordAnswer(message: Envelope, by: string, from: "client" | "hub" = "client"): Promise<StoredEvent | undefined> {
    return this.#record(from, message, { by, line: encode(message) })
  }

  /** A note of the hub's own, in the log. */
  note(what: string, details: Readonly<Record<string, unknown>> = {}): Promise<StoredEvent | undefined> {
    const message: Envelope = { type: "hub", subtype: what, ...details }
    return this.#record("hub", message, { line: encode(message) })
  }

  change(change: Partial<SessionRecord>): void {
    this.#kept.change({ ...this.kept, record: { ...this.record, ...change } })
  }

  now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }

  /** What it says is durable and shown when this resolves. */
  async settled(): Promise<void> {
    await this.pipeline.settled()
    this.#kept.settle()
  }

  /** Asks came or went: the phase may be another. */
  touch(): void {
    this.#kept.change(this.kept)
  }

  /** At start: the log may have more than the record, which is saved a little later; and messages may wait. */
  async load(): Promise<void> {
    const { log } = this.#options
    const { lastSeq } = await log.bounds(this.id)
    while (this.record.lastSeq < lastSeq) {
      const events = await log.read(this.id, { after: this.record.lastSeq, limit: CATCH_UP_PAGE })
      if (events.length === 0) break
      for (const event of events) this.#kept.fold(foldEvent(this.kept, event, wireObject(event.line) ?? NOTHING))
    }
    if (this.#connection.name === "away") this.#state = stateAtStart(this.record)
    // One that was handed over may have left messages on their way.
    if (!this.isEnded || this.record.next !== undefined) await this.messages.load()
  }

  async #renew(wire: AgentWire): Promise<void> {
    wire.renew()
    this.#state = initialSessionState
    await this.#takeNewProcess(wire)
  }

  async #takeNewProcess(wire: AgentWire): Promise<void> {
    const { incarnation } = this.kept.own
    await this.#options.asks.orphan({ sessionId: this.id, incarnation, except: wire.incarnation })
    this.#kept.change(foldNewProcess(this.kept, wire.incarnation))
    for (const lost of await this.messages.newProcess(wire.incarnation)) {
      await this.note("message_unknown", { uuid: lost.uuid })
    }
  }

  #greet(control: AgentControl, wire: AgentWire, continuity: Continuity): Promise<Greeted> {
    const { greeting, greeted, trouble } = this.#options
    const fields = continuity === "same" ? {} : (greeting?.(this, wire.incarnation) ?? {})
    return greetAgent({
      control,
      wire,
      intake: this.#intake,
      fields,
      learn: (payload) => this.#kept.change(foldInitializeReply(this.kept, payload)),
      trouble: (error) => trouble(this, "initialize was not answered", error),
    }).finally(() => greeted?.(this))
  }

  #openIntake(): AgentIntake {
    const { log, asks, call, trouble } = this.#options
    return new AgentIntake({
      sessionId: this.id,
      log,
      asks,
      pipeline: this.pipeline,
      wire: () => this.wire,
      record: (message, how) => this.#record("agent", message, how),
      replied: (message) => {
        if (this.#connection.name === "connected") this.#connection.control.take(message)
      },
      echoed: (uuid) => this.messages.confirm(uuid),
      call: (message) => call(this, message),
      touched: () => this.touch(),
      malformed: (reason) => trouble(this, "a malformed line", reason),
      background: (work) => this.#background(work),
      now: () => this.now(),
    })
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
    if (event.from === "agent") {
      this.#step({ kind: "received", message })
      if (message.type === "result") this.inProgress.clear()
      takeReceipts(message, {
        incarnation: this.wire?.incarnation,
        messages: this.messages,
        asks: this.#options.asks,
      })
    } else if (event.from === "client" && message.type === "user") {
      this.#step({ kind: "sent", message })
    }
    this.#kept.fold(foldEvent(this.kept, event, message))
  }

  #step(input: Parameters<typeof stepSession>[1]): void {
    const before = this.#state
    this.#state = stepSession(before, input)
    if (this.#state.phase !== before.phase) this.touch()
  }

  #background(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      // Told once by the store itself, not once for everything that waits for it.
      if (error instanceof HubError && error.code === "store/full") return
      this.#options.trouble(this, "something failed in the background", error)
    })
  }
}

function noAgent(why: string): HubError {
  return new HubError("session/no-agent", `${why}: start an agent for it, or make a new session`)
}

function rotated(next: string): HubError {
  return new HubError("session/rotated", `the conversation goes on in session ${next}`, { details: { next } })
}
