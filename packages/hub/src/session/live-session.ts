import {
  composeUserMessage,
  type Decoded,
  type Envelope,
  encode,
  initialSessionState,
  type PeerTraits,
  peerTraits,
  stepSession,
  type UnlistedRequest,
} from "@signalbox/protocol"
import type { NewMessage, SessionView } from "../core.ts"
import { HubError } from "../errors.ts"
import type { KeptLaunch, KeptSession, SessionExit, SessionPhase, SessionRecord } from "../model/session-record.ts"
import { AgentControl, type ControlReply, payloadOf } from "./agent-control.ts"
import type { AgentIntake } from "./agent-intake.ts"
import { AgentProgress } from "./agent-progress.ts"
import type { AgentWire } from "./agent-wire.ts"
import { Arrivals } from "./arrivals.ts"
import { catchUp } from "./catch-up.ts"
import { type Connection, type Continuity, connectionAtStart, phaseOf, stateAtStart } from "./connection.ts"
import { type Greeted, greetAgent } from "./greet-agent.ts"
import { KeptRecord } from "./kept-record.ts"
import type { LiveSessionOptions } from "./live-session-options.ts"
import { MessageDesk } from "./message-desk.ts"
import type { MessageInProgress } from "./message-in-progress.ts"
import { openIntake } from "./open-intake.ts"
import { type Published, SessionPipeline } from "./pipeline.ts"
import { noAgent, rotated } from "./session-errors.ts"
import { foldEvents, foldHandOver, foldInitializeReply, foldNewProcess } from "./session-fold.ts"
import { SessionHistory } from "./session-history.ts"

const IN_TURN: ReadonlySet<SessionPhase> = new Set(["running", "waiting", "disconnected"])
const NO_TRAITS = peerTraits({})

/** One conversation: its record, its history, its agent when there is one. */
export class LiveSession {
  readonly id: string
  readonly pipeline: SessionPipeline
  readonly history: SessionHistory
  readonly messages: MessageDesk
  readonly #options: LiveSessionOptions
  readonly #intake: AgentIntake
  readonly #progress: AgentProgress
  readonly #kept: KeptRecord
  #connection: Connection
  readonly #arrivals = new Arrivals()
  /** Of one that had ended when the hub started. */
  #areMessagesUnread = false

  constructor(options: LiveSessionOptions) {
    this.#options = options
    this.id = options.kept.record.id
    this.#kept = new KeptRecord({
      kept: options.kept,
      complete: ({ record, own }) => ({ record: { ...record, state: this.phase() }, own }),
      save: (kept) => this.#background(options.directory.saveSession(kept)),
      tell: () => options.changed(this),
    })
    this.#connection = connectionAtStart(options.kept)
    this.pipeline = new SessionPipeline({
      session: this.id,
      log: options.log,
      publish: (items) => this.#publish(items),
      onFailed: (error) => options.trouble(this, "the log refused events", error),
    })
    this.history = new SessionHistory({ pipeline: this.pipeline, now: options.now })
    this.messages = new MessageDesk({
      sessionId: this.id,
      directory: options.directory,
      log: options.log,
      record: (message, how) => this.history.record("client", message, how),
      tell: (lifecycle) => this.pipeline.delta(encode(lifecycle), lifecycle),
      ...(options.now === undefined ? {} : { now: options.now }),
    })
    this.#progress = new AgentProgress({
      wire: () => this.wire,
      messages: this.messages,
      asks: options.asks,
      moved: () => this.touch(),
    })
    if (this.#connection.name === "away") this.#progress.state = stateAtStart(options.kept.record)
    this.#intake = openIntake(this, options, {
      replied: (message) => {
        if (this.#connection.name === "connected") this.#connection.control.take(message)
      },
      background: (work) => this.#background(work),
    })
  }

  get kept(): KeptSession {
    return this.#kept.value
  }

  get record(): SessionRecord {
    return this.#kept.value.record
  }

  get inProgress(): MessageInProgress {
    return this.#progress.inProgress
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

  /** It has no process, and gets one again when something is sent to it. */
  get isParked(): boolean {
    return this.#connection.name === "parked"
  }

  /** What this agent's CLI can take. Unknown means the oldest. */
  get traits(): PeerTraits {
    const version = this.record.cliVersion
    if (version === null) return NO_TRAITS
    return peerTraits({ claude_code_version: version, capabilities: this.#progress.state.facts.capabilities ?? [] })
  }

  view(): SessionView {
    const { asks, viewers } = this.#options
    const { turnStartedAt, ...record } = this.record
    const state = this.phase()
    // What waits for an agent that is not here yet, or was taken back, is no turn.
    const turn = turnStartedAt === undefined || !IN_TURN.has(state) ? {} : { turnStartedAt }
    return { ...record, ...turn, state, pendingAsks: asks.pendingCount(this.id), viewers: viewers(this.id) }
  }

  phase(): SessionPhase {
    return phaseOf(this.#connection, {
      state: this.#progress.state,
      pendingAsks: this.#options.asks.pendingCount(this.id),
    })
  }

  /** An agent is here. */
  async attach(wire: AgentWire, continuity: Continuity): Promise<void> {
    if (this.#connection.name === "connected") this.#connection.control.close("the agent connected again")
    const connectedAt = performance.now()
    const connection = { name: "connected", wire, control: new AgentControl() } as const
    this.#connection = { ...connection, isGreeted: false }
    if (continuity === "new") this.#progress.state = initialSessionState
    else {
      this.#progress.state = stepSession(this.#progress.state, { kind: "connected" })
      this.#intake.replayBegins()
    }
    this.change({ transport: wire.transport })
    await this.history.note("connected", { transport: wire.transport })
    if (continuity === "new") await this.#takeNewProcess(wire)
    const greeted = this.#greet(connection.control, wire, continuity)
    const isSame = continuity === "unknown" ? (await greeted) === "before" : continuity === "same"
    // Gone while it was asked: whichever process it was, it says so when it is back.
    if (this.wire !== wire) return
    if (continuity === "unknown" && !isSame) await this.#renew(wire)
    this.#connection = { ...connection, isGreeted: true }
    this.#arrivals.tell(true)
    if (isSame) {
      this.#options.returned?.(this)
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
    this.#progress.state = stepSession(this.#progress.state, { kind: "disconnected" })
    this.inProgress.clear()
    this.change({ transport: null })
    await this.history.note("disconnected", { reason })
  }

  /** Its process is over, and what becomes of the session is still to be seen: nothing more goes to it. */
  letGo(reason: string): void {
    if (this.#connection.name !== "connected") return
    this.#connection.control.close(reason)
    this.#connection = { name: "away" }
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
    next.#progress.state = { ...this.#progress.state }
    // One that comes back to its own goes on there: what followed it then does not follow it now.
    const { next: _followed, ...record } = next.record
    const { launch } = this.kept.own
    const taken = foldHandOver({ ...next.kept, record }, this.kept)
    next.#kept.change(launch === undefined ? taken : { ...taken, own: { ...taken.own, launch } })
    const { cliVersion, runner, worktree } = this.record
    next.change({ transport: connection.wire.transport, cliVersion, runner, ...(worktree && { worktree }) })
    await this.history.note("rotated", { next: next.id })
  }

  /** The process ended, or the session was stopped. `details` are for the history alone. */
  async end(exit: Omit<SessionExit, "at">, details: Readonly<Record<string, unknown>> = {}): Promise<void> {
    if (this.#connection.name === "ended") return
    await this.#leave({ name: "ended" }, exit.reason)
    this.change({ transport: null, exit: { ...exit, at: this.now() } })
    await this.history.note("ended", { ...exit, ...details })
  }

  /** The runner put its idle process to rest. */
  async park(reason: string): Promise<void> {
    if (this.#connection.name === "ended" || this.#connection.name === "parked") return
    await this.#leave({ name: "parked" }, reason)
    this.change({ transport: null })
    await this.history.note("parked", { reason })
  }

  /** A process was started on a runner, again or for the first time: until it is here the session is starting. */
  async expect(launch: KeptLaunch): Promise<void> {
    const { exit: _over, ...record } = this.record
    this.#connection = { name: "never" }
    this.#kept.change({ record: { ...record, runner: launch.runner }, own: { ...this.kept.own, launch } })
    if (this.#areMessagesUnread) await this.messages.load()
    this.#areMessagesUnread = false
  }

  /** What is kept of it and told to nobody. */
  changeOwn(change: Partial<KeptSession["own"]>): void {
    this.#kept.change({ ...this.kept, own: { ...this.kept.own, ...change } })
  }

  forgetWorktree(): void {
    const { worktree: _removed, ...record } = this.record
    this.#kept.change({ ...this.kept, record })
  }

  /** Whether this is the process that is here. */
  isSpokenForBy(incarnation: string): boolean {
    return this.wire?.incarnation === incarnation
  }

  /**
   * A line from the agent, decoded. `key` is for an event that has none of its own; `incarnation` is the process that said it,
   * where it may be an earlier one than the one that is here.
   */
  ingest(decoded: Decoded, key?: string, incarnation?: string): void {
    if (incarnation === undefined || this.isSpokenForBy(incarnation)) return this.#intake.take(decoded, key)
    if (decoded.kind !== "malformed") this.#progress.saidByOther(decoded.message, incarnation)
    return this.#intake.takeLeftover(decoded, key)
  }

  /** Resolves when all that the agent said so far is durable, or refused by the store. */
  async taken(): Promise<void> {
    await this.pipeline.settled()
    await this.#intake.settled()
  }

  send(message: NewMessage, by: string): Promise<{ uuid: string; seq: number }> {
    const { content, ...options } = message
    return this.sendWire(composeUserMessage(content, { session_id: this.record.agentSessionId ?? "", ...options }), by)
  }

  /** A user message as a client of the wire wrote it, with whatever fields it has. */
  async sendWire(message: Envelope, by: string): Promise<{ uuid: string; seq: number }> {
    if (this.record.next !== undefined) throw rotated(this.record.next)
    if (this.isEnded && !(await this.messages.has(message))) await this.#revive(by)
    const accepted = await this.messages.accept(message, by)
    const wire = this.greetedWire
    if (wire !== undefined) this.#background(this.messages.deliver(wire))
    else if (this.isParked) this.#options.wake?.(this)
    // Its process ended just now.
    else if (this.isEnded) this.#background(this.#revive(by))
    return accepted
  }

  async #revive(by: string): Promise<void> {
    if (this.#options.revive === undefined) throw noAgent("the session has ended")
    await this.#options.revive(this, by)
  }

  /** The agent's payload; refusals, time-outs and its absence are errors. */
  async control(request: UnlistedRequest, timeoutMs: number): Promise<unknown> {
    return payloadOf(await this.ask(request, timeoutMs), request.subtype)
  }

  ask(request: UnlistedRequest, timeoutMs: number): Promise<ControlReply> {
    if (this.isParked) return this.awake(timeoutMs).then(() => this.ask(request, timeoutMs))
    if (this.#connection.name !== "connected") return Promise.reject(noAgent("no agent is connected"))
    return this.#connection.control.ask(this.#connection.wire, request, timeoutMs)
  }

  /** Brings a parked agent back. Resolves when it is here; at once when it does not rest. */
  async awake(timeoutMs: number): Promise<void> {
    if (!this.isParked) return
    this.#options.wake?.(this)
    if (!(await this.#arrivals.wait(timeoutMs))) throw noAgent("its process did not come back in time")
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
    const caughtUp = await catchUp(this.#options.log, this.kept)
    if (caughtUp !== this.kept) this.#kept.fold(caughtUp)
    if (this.#connection.name === "away") this.#progress.state = stateAtStart(this.record)
    // One that was handed over may have left messages on their way.
    if (!this.isEnded || this.record.next !== undefined) await this.messages.load()
    else this.#areMessagesUnread = true
  }

  /** No process is there any more to hear an answer. */
  async #leave(to: Connection, reason: string): Promise<void> {
    if (this.#connection.name === "connected") this.#connection.control.close(reason)
    this.#connection = to
    this.inProgress.clear()
    this.#arrivals.tell(false)
    const { incarnation } = this.kept.own
    await this.#options.asks.orphan({ sessionId: this.id, incarnation, except: null })
  }

  async #renew(wire: AgentWire): Promise<void> {
    wire.renew()
    this.#progress.state = initialSessionState
    await this.#takeNewProcess(wire)
  }

  async #takeNewProcess(wire: AgentWire): Promise<void> {
    const { incarnation } = this.kept.own
    await this.#options.asks.orphan({ sessionId: this.id, incarnation, except: wire.incarnation })
    this.#kept.change(foldNewProcess(this.kept, wire.incarnation))
    for (const lost of await this.messages.newProcess(wire.incarnation)) {
      await this.history.note("message_unknown", { message_uuid: lost.uuid })
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

  #publish(items: readonly Published[]): void {
    for (const item of items) this.#progress.follow(item)
    const events = items.filter((item) => item.kind === "event")
    if (events.length > 0) this.#kept.fold(foldEvents(this.kept, events))
    this.#options.publish(this, items)
  }

  #background(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      // Told once by the store itself, not once for everything that waits for it.
      if (error instanceof HubError && error.code === "store/full") return
      this.#options.trouble(this, "something failed in the background", error)
    })
  }
}
