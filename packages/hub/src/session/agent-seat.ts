import { isObject, textOf } from "@signalbox/protocol"
import { COME_BACK } from "@signalbox/transport"
import type { KeptSession } from "../model/session-record.ts"
import { AgentControl, type AgentWire, type ControlReply } from "./agent-control.ts"
import type { AgentIntake } from "./agent-intake.ts"
import { foldHandOver, foldInitializeReply, foldNewProcess, isEnforcing, type KeptRecord } from "./kept-record.ts"
import {
  type AgentProgress,
  type Continuity,
  DRAFT,
  type Life,
  type LifeInput,
  lifeAtStart,
  stateOfNew,
  stepLife,
} from "./life.ts"
import type { LiveSession } from "./live-session.ts"
import type { SessionHub } from "./session-hub.ts"

export interface AgentSeatParts {
  readonly session: LiveSession
  readonly kept: KeptRecord
  readonly progress: AgentProgress
  readonly intake: AgentIntake
}

/** The start of a process, as long as it is under way. */
export interface Launch {
  /** The process that the runner is asked for, once it is. */
  spawn: string | undefined
  done: Promise<void>
}

/** How an agent is reached, and what it was asked. */
interface AgentLine {
  readonly wire: AgentWire
  readonly control: AgentControl
}

/** The agent's place in a session: who is connected, which process that is, and what becomes of those who were here before. */
export class AgentSeat {
  readonly #parts: AgentSeatParts
  readonly #hub: SessionHub
  readonly arrivals = new Arrivals()
  #life: Life<AgentLine, Launch>
  /** Who has the connection that was here: its conversation went on there. */
  #heir: AgentSeat | undefined
  /** `initialize` is on the wire and not answered yet. */
  #isGreeting = false
  #orphaning: Promise<void> = Promise.resolve()

  constructor(parts: AgentSeatParts, hub: SessionHub, isDraft: boolean) {
    this.#parts = parts
    this.#hub = hub
    this.#life = isDraft ? DRAFT : lifeAtStart(parts.kept.value)
  }

  get life(): Life<AgentLine, Launch> {
    return this.#life
  }

  get wire(): AgentWire | undefined {
    return this.#life.name === "live" ? this.#life.line.wire : undefined
  }

  /** The seat that has the connection now. It may be another session's: a conversation can go on there. */
  get holder(): AgentSeat {
    return this.#heir?.holder ?? this
  }

  get session(): LiveSession {
    return this.#parts.session
  }

  async attach(wire: AgentWire, continuity: Continuity): Promise<void> {
    const { progress, intake, session } = this.#parts
    const { messages, history, gone } = session
    // It went to another hub while its agent was being let in.
    if (gone !== undefined) return void wire.closeWith(COME_BACK, gone.message).catch(() => undefined)
    const connectedAt = performance.now()
    const line = { wire, control: new AgentControl() }
    this.step({ kind: "connected", line }, "the agent connected again")
    this.#heir = undefined
    if (continuity === "new") progress.state = stateOfNew(messages.waiting)
    else intake.replayBegins()
    session.change({ transport: wire.transport })
    await history.note("connected", { transport: wire.transport })
    if (continuity === "new") await this.#takeNewProcess(wire)
    // Gone meanwhile: the end of its greeting would be taken for the end of what the next one replays.
    if (this.holder.wire !== wire) return
    const greeted = this.#greet(line.control, wire, continuity)
    // No message before it is certain that the policy will be asked about every tool call.
    if (this.#isUnhooked && !(await this.#takesHook(greeted, wire))) return
    const isSame = continuity === "unknown" ? (await greeted) === "before" : continuity === "same"
    // Gone while it was asked: whichever process it was, it says so when it is back.
    if (this.wire !== wire) return
    if (continuity === "unknown" && !isSame) await this.#renew(wire)
    if (this.wire !== wire) return
    this.step({ kind: "greeted", line })
    if (isSame) {
      this.#hub.clients.returned(session)
      await messages.sendAgain(wire)
      await this.#hub.asks.sendAgain(wire, connectedAt)
    } else {
      await this.#deliverFirst(wire)
    }
    await greeted
  }

  /** The policy is to judge its every tool call, and it is not known to have taken the hub's hook. */
  get #isUnhooked(): boolean {
    const { value } = this.#parts.kept
    return isEnforcing(value) && value.own.launch?.isHooked !== true
  }

  /** A process that does not take the hub's hook is stopped. */
  async #takesHook(greeted: Promise<Greeted>, wire: AgentWire): Promise<boolean> {
    const { session, kept } = this.#parts
    const isAnswered = (await greeted) === "now"
    if (this.wire !== wire) return false
    const { launch, initializeReply } = kept.value.own
    if (isAnswered && launch !== undefined && initializeReply?.["hooks_applied"] !== false) {
      session.changeOwn({ launch: { ...launch, isHooked: true } })
      return true
    }
    session.change({ enforce: "lost" })
    await this.#hub.launches.stop(session, "it did not take the hook by which the policy judges its tool calls")
    return false
  }

  /** Messages that waited for this process have their turn from here on. */
  async #deliverFirst(wire: AgentWire): Promise<void> {
    const { session } = this
    const isAwaited = session.messages.waiting > 0
    await session.messages.deliver(wire)
    if (isAwaited && session.record.turnStartedAt === undefined) session.change({ turnStartedAt: session.now() })
  }

  async detach(wire: AgentWire, reason: string): Promise<void> {
    if (this.#life.name !== "live" || this.wire !== wire) return
    this.step({ kind: "disconnected", line: this.#life.line }, reason)
    this.session.change({ transport: null })
    await this.session.history.note("disconnected", { reason })
  }

  /** Nothing goes through here any more. What was asked of the agent stays asked: its next hub goes on with it. */
  abandon(reason: string): void {
    this.step({ kind: "disconnected" }, reason)
    this.arrivals.tell(false)
  }

  /** No process is there any more. Resolves when the asks are settled that nobody is left to hear. */
  leave(kind: "parked" | "ended", reason: string): Promise<void> {
    this.step({ kind }, reason)
    return this.#orphaning
  }

  /** `reason`: why what was asked is not answered. */
  step(input: LifeInput<AgentLine, Launch>, reason = ""): void {
    const { life, effects } = stepLife(this.#life, input)
    this.#life = life
    for (const effect of effects) {
      switch (effect.do) {
        case "close":
          effect.line.control.close(reason)
          break
        case "drop-sentence":
          this.#parts.progress.inProgress.clear()
          break
        case "tell-arrival":
          this.arrivals.tell(effect.isHere)
          break
        case "orphan-asks":
          this.#orphaning = this.#orphan(this.#parts.kept.value.own.incarnation, null)
          break
      }
    }
  }

  async handOver(next: AgentSeat): Promise<void> {
    if (this.#life.name !== "live") return
    const { line } = this.#life
    const { wire } = line
    const { session } = this
    const before = next.#parts.kept.value.own.incarnation
    const wasAway = next.#life.name === "away"
    const isBack = before !== null && this.#isBack(wire, before)
    if (isBack) wire.renew(before)
    this.step({ kind: "handed-over" })
    this.#heir = next
    next.#heir = undefined
    session.change({ transport: null, next: next.session.id })
    // In the commit that makes the next one, if it is new: a hub that is killed after that would have one that nobody comes to.
    for (const { kept } of [this.#parts, next.#parts]) kept.settle()
    next.step({ kind: "took-over", line }, "another agent took its place")
    session.messages.moveTo(next.session.messages)
    if (isBack) next.#welcomeBack(wire, this.#isGreeting)
    else next.#inherit(this, wire)
    if (wasAway) await next.session.history.note("connected", { transport: wire.transport })
    await session.history.note("rotated", { next: next.session.id })
    if (before === null || before === wire.incarnation) return
    await next.#orphan(before, wire.incarnation)
    await next.#noteLost(wire)
  }

  /** Nobody knew where it belongs, and it says that it was here before. But what it has asked meanwhile, it is to be answered. */
  #isBack(wire: AgentWire, before: string): boolean {
    const { session } = this
    const isUnknown = session.record.agentSessionId === null && wire.incarnation !== before
    return isUnknown && wire.isReturning && this.#hub.asks.pendingCount(session.id) === 0
  }

  /** The process that left, over a connection that began elsewhere. */
  #welcomeBack(wire: AgentWire, isReplaying: boolean): void {
    const { session, kept, intake } = this.#parts
    if (isReplaying) intake.replayBegins()
    kept.change(withoutNext(kept.value))
    session.change({ transport: wire.transport })
    this.#hub.clients.returned(session)
    session.background(session.messages.sendAgain(wire))
    session.background(this.#hub.asks.sendAgain(wire, performance.now()))
  }

  /** Takes over what the process that is here now had in the session before. */
  #inherit(from: AgentSeat, wire: AgentWire): void {
    const { session, kept, progress } = this.#parts
    const { launch, options } = from.#parts.kept.value.own
    const { cliVersion, runner, worktree, enforce } = from.session.record
    session.background(session.messages.deliver(wire))
    progress.state = { ...from.#parts.progress.state }
    const taken = foldHandOver(withoutNext(kept.value), from.#parts.kept.value)
    const started = { ...(launch && { launch }), ...(options && { options }) }
    kept.change({ ...taken, own: { ...taken.own, ...started } })
    session.change({
      transport: wire.transport,
      cliVersion,
      runner,
      ...(worktree && { worktree }),
      ...(enforce && { enforce }),
    })
  }

  async #renew(wire: AgentWire): Promise<void> {
    wire.renew()
    this.#parts.progress.state = stateOfNew(this.session.messages.waiting)
    await this.#takeNewProcess(wire)
  }

  async #takeNewProcess(wire: AgentWire): Promise<void> {
    const { kept } = this.#parts
    await this.#orphan(kept.value.own.incarnation, wire.incarnation)
    kept.change(foldNewProcess(kept.value, wire.incarnation))
    await this.#noteLost(wire)
  }

  /** Nobody is left to hear an answer. Of a session that went to another hub the asks went too, and may have come back since. */
  async #orphan(incarnation: string | null, except: string | null): Promise<void> {
    if (this.#parts.kept.isGone) return
    await this.#hub.asks.orphan({ sessionId: this.session.id, incarnation, except })
  }

  /** Notes the messages that another process than the one that is here may have taken, or not. */
  async #noteLost(wire: AgentWire): Promise<void> {
    const { messages, history } = this.session
    for (const lost of await messages.newProcess(wire.incarnation)) {
      await history.note("message_unknown", { message_uuid: lost.uuid })
    }
  }

  #greet(control: AgentControl, wire: AgentWire, continuity: Continuity): Promise<Greeted> {
    const { session } = this
    const { clients, trouble } = this.#hub
    const fields = continuity === "same" && !this.#isUnhooked ? {} : clients.greeting(session, wire.incarnation)
    this.#isGreeting = true
    return greetAgent({
      control,
      wire,
      // The conversation may have gone on elsewhere by the time of the reply.
      intake: () => this.holder.#parts.intake,
      fields,
      learn: (payload) => this.holder.#learn(payload),
      known: (requestIds) => this.#goHome(wire, requestIds),
      trouble: (error) => trouble(session, "initialize was not answered", error),
    }).finally(() => {
      this.#isGreeting = false
      clients.greeted(session)
    })
  }

  #learn(payload: Readonly<Record<string, unknown>>): void {
    const { kept } = this.#parts
    kept.change(foldInitializeReply(kept.value, payload))
  }

  /** One that was here before, and says nothing but what it has asked, is known by that. */
  async #goHome(wire: AgentWire, requestIds: readonly string[]): Promise<void> {
    const { session } = this
    if (!wire.isReturning || session.record.agentSessionId !== null || this.wire !== wire) return
    const home = await this.#hub.registry.homeOf(requestIds)
    if (home !== undefined && home !== session && this.wire === wire && home.wire === undefined)
      await session.handOver(home)
  }
}

/** One that comes back to its own goes on there: what followed it then does not follow it now, and it is not over. */
function withoutNext(kept: KeptSession): KeptSession {
  const { next: _followed, exit: _over, ...record } = kept.record
  return { ...kept, record }
}

interface Greeting {
  readonly control: AgentControl
  readonly wire: AgentWire
  /** Intake of the session that the process is in when it answers. */
  readonly intake: () => AgentIntake
  /** The fields that go along: the hooks that clients want. A bare one leaves the hooks of a process as they are. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The agent's reply, from which every client's is answered. */
  readonly learn: (payload: Readonly<Record<string, unknown>>) => void
  /** It was initialized before, and these are its open questions: by them it may be known. */
  readonly known: (requestIds: readonly string[]) => Promise<void>
  readonly trouble: (error: unknown) => void
}

/** `before`: the process was initialized already, so it is one that was here. `never`: it did not answer. */
export type Greeted = "before" | "now" | "never"

const TIMEOUT_MS = 60_000

/**
 * The hub speaks first and owns `initialize`: it is on the wire when this returns its promise. Sent again after a reconnect
 * it brings the questions that got lost.
 */
async function greetAgent({ control, wire, intake, fields, learn, known, trouble }: Greeting): Promise<Greeted> {
  try {
    const reply = await control.ask(wire, { ...fields, subtype: "initialize" }, { timeoutMs: TIMEOUT_MS })
    const payload = reply["response"]
    if (reply["subtype"] === "success" && isObject(payload)) learn(payload)
    const isBefore = reply["subtype"] === "error"
    if (isBefore) await known(pendingIn(reply).flatMap((question) => textOf(question, "request_id") ?? []))
    intake().replayEnds()
    intake().takePending(pendingIn(reply))
    return isBefore ? "before" : "now"
  } catch (error) {
    intake().replayEnds()
    trouble(error)
    return "never"
  }
}

const PENDING_LISTS = ["pending_permission_requests", "pending_user_dialog_requests", "pending_elicitation_requests"]

/** The questions that the agent has open, as its reply lists them. */
function pendingIn(reply: ControlReply): readonly Readonly<Record<string, unknown>>[] {
  return PENDING_LISTS.flatMap((name) => {
    const list = reply[name]
    return Array.isArray(list) ? list.filter(isObject) : []
  })
}

/** Those who wait for a session's agent to be there. */
class Arrivals {
  readonly #waiting = new Set<(isHere: boolean) => void>()

  get areAwaited(): boolean {
    return this.#waiting.size > 0
  }

  /** True when it came in time, false when it did not or never will. */
  wait(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isHere: boolean) => {
        clearTimeout(timer)
        this.#waiting.delete(settle)
        resolve(isHere)
      }
      const timer = setTimeout(() => settle(false), timeoutMs)
      timer.unref()
      this.#waiting.add(settle)
    })
  }

  tell(isHere: boolean): void {
    for (const settle of this.#waiting) settle(isHere)
  }
}
