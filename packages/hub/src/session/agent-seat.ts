import type { KeptSession } from "../model/session-record.ts"
import { AgentControl } from "./agent-control.ts"
import type { AgentIntake } from "./agent-intake.ts"
import type { AgentProgress } from "./agent-progress.ts"
import type { AgentWire } from "./agent-wire.ts"
import { Arrivals } from "./arrivals.ts"
import { type Greeted, greetAgent } from "./greet-agent.ts"
import type { KeptRecord } from "./kept-record.ts"
import { type Connection, type Continuity, connectionAtStart, stateOfNew } from "./life.ts"
import type { LiveSession } from "./live-session.ts"
import type { LiveSessionOptions } from "./live-session-options.ts"
import type { MessageDesk } from "./message-desk.ts"
import { foldHandOver, foldInitializeReply, foldNewProcess } from "./session-fold.ts"
import type { SessionHistory } from "./session-history.ts"

export interface AgentSeatParts {
  readonly session: LiveSession
  readonly options: LiveSessionOptions
  readonly kept: KeptRecord
  readonly messages: MessageDesk
  readonly history: SessionHistory
  readonly progress: AgentProgress
  readonly intake: AgentIntake
  readonly background: (work: Promise<unknown>) => void
}

/** The agent's place in a session: who is connected, which process that is, and what becomes of those who were here before. */
export class AgentSeat {
  readonly #parts: AgentSeatParts
  readonly arrivals = new Arrivals()
  connection: Connection
  /** Who has the connection that was here: its conversation went on there. */
  #heir: AgentSeat | undefined
  /** `initialize` is on the wire and not answered yet. */
  #isGreeting = false

  constructor(parts: AgentSeatParts) {
    this.#parts = parts
    this.connection = connectionAtStart(parts.kept.value)
  }

  get wire(): AgentWire | undefined {
    return this.connection.name === "connected" ? this.connection.wire : undefined
  }

  /** Where the connection is that was here. */
  get holder(): AgentSeat {
    return this.#heir?.holder ?? this
  }

  get session(): LiveSession {
    return this.#parts.session
  }

  async attach(wire: AgentWire, continuity: Continuity): Promise<void> {
    const { progress, intake, messages, history, options } = this.#parts
    if (this.connection.name === "connected") this.connection.control.close("the agent connected again")
    const connectedAt = performance.now()
    const connection = { name: "connected", wire, control: new AgentControl() } as const
    this.connection = { ...connection, isGreeted: false }
    this.#heir = undefined
    if (continuity === "new") progress.state = stateOfNew(messages.waiting)
    else intake.replayBegins()
    this.session.change({ transport: wire.transport })
    await history.note("connected", { transport: wire.transport })
    if (continuity === "new") await this.#takeNewProcess(wire)
    const greeted = this.#greet(connection.control, wire, continuity)
    const isSame = continuity === "unknown" ? (await greeted) === "before" : continuity === "same"
    // Gone while it was asked: whichever process it was, it says so when it is back.
    if (this.wire !== wire) return
    if (continuity === "unknown" && !isSame) await this.#renew(wire)
    this.connection = { ...connection, isGreeted: true }
    this.arrivals.tell(true)
    if (isSame) {
      options.returned?.(this.session)
      await messages.sendAgain(wire)
      await options.asks.sendAgain(wire.incarnation, connectedAt)
    } else {
      await this.#deliverFirst(wire)
    }
    await greeted
  }

  /** What waited for this process is its turn from here on. */
  async #deliverFirst(wire: AgentWire): Promise<void> {
    const { messages } = this.#parts
    const isAwaited = messages.waiting > 0
    await messages.deliver(wire)
    const { record } = this.session
    if (isAwaited && record.turnStartedAt === undefined) this.session.change({ turnStartedAt: this.session.now() })
  }

  async detach(wire: AgentWire, reason: string): Promise<void> {
    const { progress, history } = this.#parts
    if (this.connection.name !== "connected" || this.connection.wire !== wire) return
    this.connection.control.close(reason)
    this.connection = { name: "away" }
    progress.inProgress.clear()
    this.session.change({ transport: null })
    await history.note("disconnected", { reason })
  }

  letGo(reason: string): void {
    if (this.connection.name !== "connected") return
    this.connection.control.close(reason)
    this.connection = { name: "away" }
  }

  /** No process is there any more to hear an answer. */
  async leave(to: Connection, reason: string): Promise<void> {
    const { progress, kept } = this.#parts
    if (this.connection.name === "connected") this.connection.control.close(reason)
    this.connection = to
    progress.inProgress.clear()
    this.arrivals.tell(false)
    await this.#orphan(kept.value.own.incarnation, null)
  }

  async handOver(next: AgentSeat): Promise<void> {
    if (this.connection.name !== "connected") return
    const { connection } = this
    const { session, messages, history, progress } = this.#parts
    const before = next.#parts.kept.value.own.incarnation
    const wasAway = next.connection.name === "away"
    const isBack = before !== null && this.#isBack(connection.wire, before)
    if (isBack) connection.wire.renew(before)
    this.connection = { name: "ended" }
    this.#heir = next
    next.#heir = undefined
    progress.inProgress.clear()
    session.change({ transport: null, next: next.session.id })
    // It speaks, and a new process says nothing before it is spoken to.
    next.connection = { ...connection, isGreeted: true }
    messages.moveTo(next.#parts.messages)
    if (isBack) next.#welcomeBack(connection.wire, this.#isGreeting)
    else next.#inherit(this, connection.wire)
    if (wasAway) await next.#parts.history.note("connected", { transport: connection.wire.transport })
    await history.note("rotated", { next: next.session.id })
    if (before === null || before === connection.wire.incarnation) return
    await next.#orphan(before, connection.wire.incarnation)
    await next.#noteLost(connection.wire)
  }

  /** Nobody knew where it belongs, and it says that it was here before. But what it has asked meanwhile, it is to be answered. */
  #isBack(wire: AgentWire, before: string): boolean {
    const { session, options } = this.#parts
    const isUnknown = session.record.agentSessionId === null && wire.incarnation !== before
    return isUnknown && wire.isReturning && options.asks.pendingCount(session.id) === 0
  }

  /** The process that left, over a connection that began elsewhere. */
  #welcomeBack(wire: AgentWire, isReplaying: boolean): void {
    const { session, kept, messages, intake, options, background } = this.#parts
    if (isReplaying) intake.replayBegins()
    kept.change(withoutNext(kept.value))
    session.change({ transport: wire.transport })
    options.returned?.(session)
    background(messages.sendAgain(wire))
    background(options.asks.sendAgain(wire.incarnation, performance.now()))
  }

  /** What the process that is here now was in the session before. */
  #inherit(from: AgentSeat, wire: AgentWire): void {
    const { session, kept, messages, progress, background } = this.#parts
    const { launch, options } = from.#parts.kept.value.own
    const { cliVersion, runner, worktree } = from.session.record
    background(messages.deliver(wire))
    progress.state = { ...from.#parts.progress.state }
    const taken = foldHandOver(withoutNext(kept.value), from.#parts.kept.value)
    const started = { ...(launch && { launch }), ...(options && { options }) }
    kept.change({ ...taken, own: { ...taken.own, ...started } })
    session.change({ transport: wire.transport, cliVersion, runner, ...(worktree && { worktree }) })
  }

  async #renew(wire: AgentWire): Promise<void> {
    const { progress, messages } = this.#parts
    wire.renew()
    progress.state = stateOfNew(messages.waiting)
    await this.#takeNewProcess(wire)
  }

  async #takeNewProcess(wire: AgentWire): Promise<void> {
    const { kept } = this.#parts
    await this.#orphan(kept.value.own.incarnation, wire.incarnation)
    kept.change(foldNewProcess(kept.value, wire.incarnation))
    await this.#noteLost(wire)
  }

  /** Nobody is left to hear an answer. */
  #orphan(incarnation: string | null, except: string | null): Promise<void> {
    const { session, options } = this.#parts
    return options.asks.orphan({ sessionId: session.id, incarnation, except })
  }

  /** What another process than the one that is here may have taken, or not. */
  async #noteLost(wire: AgentWire): Promise<void> {
    const { messages, history } = this.#parts
    for (const lost of await messages.newProcess(wire.incarnation)) {
      await history.note("message_unknown", { message_uuid: lost.uuid })
    }
  }

  #greet(control: AgentControl, wire: AgentWire, continuity: Continuity): Promise<Greeted> {
    const { session, options } = this.#parts
    const fields = continuity === "same" ? {} : (options.greeting?.(session, wire.incarnation) ?? {})
    this.#isGreeting = true
    return greetAgent({
      control,
      wire,
      // The conversation may have gone on elsewhere by the time of the reply.
      intake: () => this.holder.#parts.intake,
      fields,
      learn: (payload) => this.holder.#learn(payload),
      known: (requestIds) => this.#goHome(wire, requestIds),
      trouble: (error) => options.trouble(session, "initialize was not answered", error),
    }).finally(() => {
      this.#isGreeting = false
      options.greeted?.(session)
    })
  }

  #learn(payload: Readonly<Record<string, unknown>>): void {
    const { kept } = this.#parts
    kept.change(foldInitializeReply(kept.value, payload))
  }

  /** One that was here before, and says nothing but what it has asked, is known by that. */
  async #goHome(wire: AgentWire, requestIds: readonly string[]): Promise<void> {
    const { session, options } = this.#parts
    if (!wire.isReturning || session.record.agentSessionId !== null || this.wire !== wire) return
    const home = await options.homeOf?.(requestIds)
    if (home !== undefined && home !== session && this.wire === wire && home.wire === undefined)
      await session.handOver(home)
  }
}

/** One that comes back to its own goes on there: what followed it then does not follow it now, and it is not over. */
function withoutNext(kept: KeptSession): KeptSession {
  const { next: _followed, exit: _over, ...record } = kept.record
  return { ...kept, record }
}
