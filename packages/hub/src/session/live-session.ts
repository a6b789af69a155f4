import { setTimeout as pause } from "node:timers/promises"
import {
  composeUserMessage,
  type Decoded,
  type Envelope,
  type PeerTraits,
  peerTraits,
  type UnlistedRequest,
} from "@signalbox/protocol"
import type { NewMessage, Session, SessionExit, SessionState } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import { type KeptLaunch, type KeptSession, LOST, type SessionRecord } from "../model/session-record.ts"
import { type AgentWire, type ControlReply, noAgent, type Outcome, type Variables } from "./agent-control.ts"
import { AgentIntake } from "./agent-intake.ts"
import { AgentSeat, type Launch } from "./agent-seat.ts"
import { type MessageInProgress, type Published, SessionHistory } from "./history.ts"
import { foldEvents, foldRest, KeptRecord } from "./kept-record.ts"
import { AgentProgress, type Continuity, phaseOf, type RestInput, stateAtStart, viewOf } from "./life.ts"
import { MessageDesk } from "./message-desk.ts"
import type { SessionHub } from "./session-hub.ts"

/** How a process is over. */
interface Ending extends Omit<SessionExit, "at"> {
  readonly details?: Readonly<Record<string, unknown>>
  readonly over?: () => void
}

/** How long an interrupt lets what was sent before it go first. */
const DELIVERY_MS = 2_000
const NO_TRAITS = peerTraits({})

/** One conversation: its record, its history, its agent when there is one. */
export class LiveSession {
  readonly id: string
  readonly history: SessionHistory
  readonly messages: MessageDesk
  readonly #hub: SessionHub
  readonly #intake: AgentIntake
  readonly #progress: AgentProgress
  readonly #kept: KeptRecord
  readonly #seat: AgentSeat
  #gone: HubError | undefined

  /** `isDraft`: it is new, and nobody is told of it yet. */
  constructor(kept: KeptSession, hub: SessionHub, isDraft = false) {
    const { log, directory, asks, now } = hub
    this.#hub = hub
    this.id = kept.record.id
    this.#kept = new KeptRecord({
      kept,
      complete: ({ record, own }) => {
        const launch = own.launch && { ...own.launch, isParked: this.isParked }
        return { record: { ...record, state: this.phase() }, own: { ...own, ...(launch && { launch }) } }
      },
      save: (changed, how) => {
        const saving = directory.saveSession(changed, how)
        this.background(saving)
        return saving
      },
      tell: () => {
        hub.registry.takeBack(this)
        hub.viewers.changed(this.view())
      },
    })
    this.history = new SessionHistory({
      session: this.id,
      log,
      publish: (items) => this.#publish(items),
      onFailed: (error) => hub.trouble(this, "the log refused events", error),
      onAgentRefused: () => this.wire?.giveUp(),
      now,
    })
    this.messages = new MessageDesk({ sessionId: this.id, directory, log, history: this.history, now })
    this.#progress = new AgentProgress(this.messages, asks)
    this.#intake = new AgentIntake(this, hub)
    const parts = { session: this, kept: this.#kept, progress: this.#progress, intake: this.#intake }
    this.#seat = new AgentSeat(parts, hub, isDraft)
    if (this.#life.name === "away") this.#progress.state = stateAtStart(kept.record)
  }

  get #life(): AgentSeat["life"] {
    return this.#seat.life
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
    return this.#seat.wire
  }

  /** The agent's connection, once it is decided which process it is and it was greeted. */
  get greetedWire(): AgentWire | undefined {
    return this.#life.name === "live" && this.#life.isGreeted ? this.#life.line.wire : undefined
  }

  get isEnded(): boolean {
    return this.#life.name === "ended"
  }

  /** It has no process, and gets one again when something is sent to it. */
  get isParked(): boolean {
    return this.#life.name === "parked"
  }

  get isDraft(): boolean {
    return this.#life.name === "draft"
  }

  /** The start of its next process that is under way. */
  get launch(): Launch | undefined {
    return "start" in this.#life ? this.#life.start?.launch : undefined
  }

  /** Something waits for its agent, which has no process. */
  get isAwaited(): boolean {
    return "start" in this.#life && this.#life.isAwaited && (this.isParked || this.messages.waiting > 0)
  }

  /** Traits of this agent's CLI: what it can take. Unknown means the oldest. */
  get traits(): PeerTraits {
    const version = this.record.cliVersion
    if (version === null) return NO_TRAITS
    return peerTraits({ claude_code_version: version, capabilities: this.#progress.state.facts.capabilities ?? [] })
  }

  /** Why nobody can do anything with it any more: it was purged, or is another hub's. */
  get gone(): HubError | undefined {
    return this.#gone
  }

  view(): Session {
    const { asks, viewers, hubId: owner } = this.#hub
    const pendingAsks = asks.pendingCount(this.id)
    const now = { state: this.phase(), pendingAsks, viewers: viewers.countOf(this.id) }
    return viewOf(this.record, owner === undefined ? now : { ...now, owner })
  }

  phase(): SessionState {
    return phaseOf(this.#life, this.#progress.state, this.#hub.asks.pendingCount(this.id))
  }

  /** An agent is here. */
  attach(wire: AgentWire, continuity: Continuity): Promise<void> {
    return this.#seat.attach(wire, continuity)
  }

  /** The connection is over; the process may live and come back. */
  detach(wire: AgentWire, reason: string): Promise<void> {
    return this.#seat.detach(wire, reason)
  }

  /** Its process is over, and what becomes of the session is still to be seen: nothing more goes to it. */
  letGo(reason: string): void {
    this.#seat.step({ kind: "disconnected" }, reason)
  }

  /** The conversation goes on elsewhere with the same process: gives its connection away and is over itself. */
  handOver(next: LiveSession): Promise<void> {
    return this.#seat.handOver(next.#seat)
  }

  /** The session that has the connection which was this one's. */
  get holder(): LiveSession {
    return this.#seat.holder.session
  }

  /**
   * The process ended, or the session was stopped. `details` are for the history alone. `over` changes what else is kept, in the same
   * commit: a hub that is killed before that still knows the process, and one that is killed after it knows that it is over.
   */
  async end({ details, over, ...exit }: Ending): Promise<void> {
    this.#refuseIfGone()
    if (this.isEnded) return
    try {
      await this.#seat.leave("ended", exit.reason)
    } finally {
      // Also when asks could not be closed: it is told no second time that the process is over.
      over?.()
      this.forget("backgroundTasks")
      this.change({ transport: null, exit: { ...exit, at: this.now() } })
      this.#kept.settle()
    }
    await this.history.note("ended", { ...exit, ...details })
  }

  /** The runner put its idle process to rest. */
  async park({ reason, over }: Omit<Ending, "details">): Promise<void> {
    this.#refuseIfGone()
    if (this.isEnded || this.isParked) return
    try {
      await this.#seat.leave("parked", reason)
    } finally {
      over?.()
      this.forget("backgroundTasks")
      this.change({ transport: null })
    }
    await this.history.note("parked", { reason })
  }

  /** Something waits for its agent: one that rests or has ended is started again, now or as soon as its runner can. */
  wantAgent(): void {
    if (this.#kept.isGone) return
    this.#seat.step({ kind: "awaited" })
    this.#hub.launches.wake(this)
  }

  /** Something happened to it that matters only while it has no process. */
  step(input: RestInput<Launch>): void {
    if (!this.#kept.isGone) this.#seat.step(input)
  }

  /** It is purged from the store, or another hub's now: whoever still has it can do nothing with it any more, and is told why. */
  vanish(why = new HubError("session/unknown", `session ${this.id} was purged`)): void {
    this.#gone = why
    this.#kept.vanish()
    this.history.vanish(why)
    this.#seat.abandon(why.message)
  }

  /** Whether what is being started is its next process, and nobody has stopped the session meanwhile, or taken it to another hub. */
  wants(launch: Launch): boolean {
    if (this.#gone !== undefined || !("start" in this.#life)) return false
    return this.#life.start?.launch === launch && !this.#life.start.isStopped
  }

  /** Somebody starts its agent by hand. */
  expectByHand(): void {
    this.#seat.step({ kind: "launched" })
    this.touch()
    this.#kept.settle()
  }

  /** A process was started on a runner, again or for the first time: until it is here the session is starting. */
  expect(launch: KeptLaunch): void {
    const { exit: _over, ...record } = this.record
    this.#seat.step({ kind: "launched" })
    this.#kept.change({ record: { ...record, runner: launch.runner }, own: { ...this.kept.own, launch } })
  }

  /** Changes its facts that are kept and told to nobody. */
  changeOwn(change: Partial<KeptSession["own"]>): void {
    this.#kept.change({ ...this.kept, own: { ...this.kept.own, ...change } })
  }

  /** Drops a fact that no longer holds, such as the tasks of a process that has ended. */
  forget(fact: "backgroundTasks" | "worktree" | "branch" | "changes" | "next"): void {
    const { [fact]: _gone, ...record } = this.record
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
    await this.history.settled()
    await this.#intake.settled()
  }

  /** The agent's reply to a request of ours. */
  replied(message: Envelope): void {
    if (this.#life.name === "live") this.#life.line.control.take(message)
  }

  send(message: NewMessage, by: string): Promise<{ uuid: string; seq: number }> {
    const { content, ...options } = message
    return this.sendWire(composeUserMessage(content, { session_id: this.record.agentSessionId ?? "", ...options }), by)
  }

  /** A user message as a client of the wire wrote it, with whatever fields it has. */
  async sendWire(message: Envelope, by: string): Promise<{ uuid: string; seq: number }> {
    this.#refuseIfGone()
    const { next } = this.record
    if (next !== undefined)
      throw new HubError("session/rotated", `the conversation goes on in session ${next}`, { details: { next } })
    const isLost = this.record.enforce === "lost" && !this.isEnded && !this.isParked
    if ((isLost || this.isEnded) && !(await this.messages.has(message))) {
      if (isLost) throw new HubError("policy/cannot-enforce", LOST)
      this.#refuseIfGone()
      await this.#hub.launches.revive(this, by)
    }
    this.#refuseIfGone()
    const accepted = await this.messages.accept(message, by)
    const wire = this.greetedWire
    if (wire !== undefined) this.background(this.messages.deliver(wire))
    else if (this.isParked) this.wantAgent()
    // Its process ended just now.
    else if (this.isEnded) this.background(this.#hub.launches.revive(this, by))
    return accepted
  }

  ask(request: UnlistedRequest, timeoutMs: number, signal?: AbortSignal): Promise<ControlReply> {
    if (this.isParked) return this.awake(timeoutMs).then(() => this.ask(request, timeoutMs, signal))
    if (this.#life.name !== "live") return Promise.reject(noAgent("no agent is connected"))
    const { control, wire } = this.#life.line
    return control.ask(wire, request, { timeoutMs, signal }).catch(this.#unlessGone)
  }

  /** Calls that were under way when the session left are told why they ended. */
  readonly #unlessGone = (error: unknown): never => {
    throw this.#gone ?? error
  }

  /** Resolves when what was sent before is on the wire, as far as an agent is here or just coming. */
  async delivered(timeoutMs: number): Promise<void> {
    const isComing = this.wire !== undefined && this.greetedWire === undefined
    if (isComing && this.messages.waiting > 0) await this.#seat.arrivals.wait(timeoutMs)
    // A full disk or a peer that does not read may hold them up, and must not hold up what is to stop it.
    await Promise.race([this.messages.delivered(), pause(DELIVERY_MS, undefined, { ref: false })])
  }

  /** Brings a parked agent back. Resolves when it is here; at once when it does not rest. */
  async awake(timeoutMs: number): Promise<void> {
    if (!this.isParked) return
    this.wantAgent()
    if (!(await this.#seat.arrivals.wait(timeoutMs)))
      throw this.#gone ?? noAgent("its process did not come back in time")
  }

  /** Somebody changed something about its agent: who, what, and what came of it. */
  async audit({ subtype, ...act }: UnlistedRequest, { by, ...outcome }: Outcome & { by: string }): Promise<void> {
    const about = { by, via: "person", sessionId: this.id, askId: null, details: { ...act, ...outcome } }
    await this.#hub.directory.addAudit({ at: this.now(), what: `control/${subtype}`, ...about })
  }

  /** The variables go to the process, not to its next one. `applied` is null when this agent does not tell. */
  async setEnvironment(variables: Variables): Promise<ControlReply> {
    if (this.#life.name !== "live") throw noAgent("no agent is connected to take the variables")
    const { control, wire } = this.#life.line
    return control.setEnvironment(wire, variables, this.traits.answersVariables).catch(this.#unlessGone)
  }

  change(change: Partial<SessionRecord>): void {
    this.#kept.change({ ...this.kept, record: { ...this.record, ...change } })
  }

  now(): string {
    return (this.#hub.now?.() ?? new Date()).toISOString()
  }

  /** Resolves when its news are durable and shown. */
  async settled(): Promise<void> {
    await this.history.settled()
    this.#kept.settle()
  }

  /** Asks came or went: the phase may be another. */
  touch(): void {
    this.#kept.change(this.kept)
  }

  /** Brings back what the store has beside the record: the log may be ahead of it, and messages may wait. */
  async load(): Promise<void> {
    const caughtUp = await foldRest(this.#hub.log, this.kept)
    if (caughtUp !== this.kept) this.#kept.fold(caughtUp)
    await this.messages.load({ isAway: this.#life.name === "away" })
    if (this.#life.name === "away") this.#progress.state = stateAtStart(this.record, this.messages.waiting)
  }

  /** Nothing is under way in it: all there is of it is in the store, or soon will be. A conversation that went on took its process along. */
  get isQuiet(): boolean {
    const mayWait = this.isEnded && this.record.next === undefined
    const hasProcess = (this.kept.own.launch?.spawn ?? null) !== null && (mayWait || !this.isEnded)
    if (this.wire !== undefined || hasProcess || this.#seat.arrivals.areAwaited) return false
    if (this.launch !== undefined || this.isAwaited) return false
    return this.messages.isQuiet(mayWait) && this.history.isQuiet
  }

  cameFromRest(): void {
    this.#kept.cameFromRest()
  }

  /** Nobody needs it. True when all there is of it is in the store, and nothing has happened meanwhile. */
  async rest(): Promise<boolean> {
    await this.taken()
    return this.#kept.rest()
  }

  #refuseIfGone(): void {
    if (this.#gone !== undefined) throw this.#gone
  }

  #publish(items: readonly Published[]): void {
    const moves = items.filter((item) => this.#progress.follow(item, this.wire?.incarnation))
    const events = items.filter((item) => item.kind === "event")
    const sayerOf = (message: Envelope) => this.#progress.otherOf(message)
    if (events.length > 0) this.#kept.fold(foldEvents(this.kept, events, sayerOf))
    if (moves.length > 0) this.touch()
    this.#hub.viewers.published(this.id, items)
  }

  /** Work that nobody waits for. */
  background(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      // Told once by the store itself, not once for everything that waits for it.
      if (error instanceof HubError && error.code === "store/full") return
      this.#hub.trouble(this, "something failed in the background", error)
    })
  }
}
