import { defined, type Envelope, isObject } from "@signalbox/protocol"
import type { AskState, Grant } from "@signalbox/protocol/hub-api"
import { LONGEST_TIMER_MS } from "@signalbox/protocol/timing"
import { type Clock, systemClock } from "@signalbox/transport/pacing"
import { HubError, unknown } from "../errors.ts"
import { ACTOR } from "../model/access.ts"
import type { Ask, AskAnswer, AskRecord, AskVia } from "../model/ask.ts"
import type { CountedUses, Directory, SettledAsk } from "../store/directory.ts"
import {
  AnswerDelivery,
  type Answering,
  type AskVerdict,
  alreadySettled,
  expiredAnswer,
  extended,
  type FittingAnswer,
  fitAnswer,
  notExtendable,
  type Returned,
  refusalOf,
  settledAs,
  verdictAnswer,
  withVerdict,
} from "./answer.ts"
import {
  type AskReader,
  askId,
  auditOf,
  auditOfExtension,
  auditOfRefusal,
  type Question,
  recordOf,
  wholeAsk,
} from "./whole-ask.ts"

type Request = Ask["request"]

/** The sessions that ask, as the desk knows them. */
export interface AskingSessions {
  /** Resolves when the session is in memory, with all that an answer needs: of several hubs, when it is this one's. */
  load(sessionId: string): Promise<void>
  judge(ask: Ask): AskVerdict
  /** Brings back what judging takes, before it. */
  recall(ask: AskRecord): Promise<void>
  /** Puts a line on the wire of the process that asked. False when that process cannot be reached now. */
  send(incarnation: string, message: Envelope): Promise<boolean>
  /** An ask is new or has changed. Called when it is durable. */
  publish(ask: Ask): void
  /** Who started a session, if that is known. */
  startedBy(sessionId: string): string | undefined
}

export interface AskDeskOptions {
  readonly directory: Directory
  readonly reader: AskReader
  readonly sessions: AskingSessions
  readonly grants: {
    take(ask: AskRecord, answer: AskAnswer, by: string): { answer: AskAnswer; grants: readonly Grant[] }
    keep(grants: readonly Grant[]): Promise<void>
  }
  readonly uses: { add(session: string, rules: readonly string[]): CountedUses | undefined }
  readonly clock?: Pick<Clock, "after">
  /** The store's time, where hubs share it. */
  readonly now?: (() => Date) | undefined
}

interface Decided {
  readonly decided: AskAnswer
  readonly rule: string | undefined
  readonly used: CountedUses | undefined
}

interface Allowed {
  readonly request: Request
  readonly grants: readonly Grant[]
  readonly how: Answering
}

export interface Extending {
  readonly by: string
  /** When it would expire, as its caller saw it: put off already since then, it is not put off again. */
  readonly expiresAt?: string
}

/** The process that is gone, the session it was in, and the one that took its place, if one did. */
export interface Orphaned {
  readonly sessionId: string
  readonly incarnation: string | null
  readonly except: string | null
}

/** The agents' open questions. The first valid answer wins, everywhere at once; the order is commit, wire, reply. */
export class AskDesk {
  readonly #options: AskDeskOptions
  readonly #pending = new Map<string, AskRecord>()
  readonly #bySession = new Map<string, Map<string, AskRecord>>()
  readonly #opening = new Map<string, Promise<void>>()
  readonly #extending = new Map<string, Promise<unknown>>()
  /** Work that ends with asks of a session being held, and whether the session has left since it began. */
  readonly #stays = new Set<{ readonly sessionId: string; isOver: boolean }>()
  readonly #delivery: AnswerDelivery
  /** Timers of the asks that a rule lets expire: each is cancelled by its function. */
  readonly #timers = new Map<string, () => void>()

  constructor(options: AskDeskOptions) {
    this.#options = options
    this.#delivery = new AnswerDelivery(options)
  }

  /** Restores one session: what was pending is pending, and what was answered without a sign of its effect will be sent again. */
  async restore(session: string): Promise<void> {
    const read = async () => {
      const pending = await this.#options.directory.listAsks({ session, state: "pending" })
      await this.#delivery.restore(session)
      return pending
    }
    const holdAll = (pending: readonly AskRecord[]) => {
      for (const ask of pending) this.#hold(ask)
    }
    if (!(await this.#ifStays(session, read(), holdAll))) this.#delivery.letGo(session)
  }

  /** The session is another hub's now: nothing of it is settled, expires or is sent here. */
  letGo(sessionId: string): void {
    for (const stay of this.#stays) if (stay.sessionId === sessionId) stay.isOver = true
    for (const ask of this.pendingOf(sessionId)) this.#release(ask)
    this.#delivery.letGo(sessionId)
  }

  /** `done` is called unless the session went to another hub meanwhile, where its asks are held then. True if it was called. */
  async #ifStays<T>(sessionId: string, work: Promise<T>, done: (found: T) => void): Promise<boolean> {
    const stay = { sessionId, isOver: false }
    this.#stays.add(stay)
    try {
      const found = await work
      if (!stay.isOver) done(found)
      return !stay.isOver
    } finally {
      this.#stays.delete(stay)
    }
  }

  /** Whether something of this session is on its way: a question to people, or an answer to its agent. */
  isBusyWith(sessionId: string): boolean {
    return this.pendingCount(sessionId) > 0 || this.#delivery.hasUnsent(sessionId)
  }

  pending(): readonly AskRecord[] {
    return [...this.#pending.values()]
  }

  pendingOf(sessionId: string): readonly AskRecord[] {
    return [...(this.#bySession.get(sessionId)?.values() ?? [])]
  }

  pendingCount(sessionId: string): number {
    return this.#bySession.get(sessionId)?.size ?? 0
  }

  /**
   * Tells of the open asks, of one session or of all, one after the other. Each is told as it is when what it asked was
   * read, and not at all when it was settled meanwhile. Ends when `tell` says false.
   */
  async tellOpen(sessionId: string | undefined, tell: (ask: Ask) => Promise<boolean>): Promise<void> {
    for (const { id } of sessionId === undefined ? this.pending() : this.pendingOf(sessionId)) {
      const open = this.#pending.get(id)
      const request = open === undefined ? undefined : await this.#options.reader.request(open)
      const still = this.#pending.get(id)
      if (still !== undefined && !(await tell(wholeAsk(still, request ?? {})))) return
    }
  }

  /** The open question of this process with this id. */
  find(incarnation: string, requestId: string): AskRecord | undefined {
    return this.pending().find((ask) => ask.requestId === requestId && ask.incarnation === incarnation)
  }

  /** Where one of these questions was asked, if it is open or its answer may not have been heard. */
  sessionOf(requestIds: readonly string[]): string | undefined {
    const isAsked = (ask: AskRecord) => requestIds.includes(ask.requestId)
    return this.pending().find(isAsked)?.sessionId ?? this.#delivery.sessionOf(isAsked)
  }

  /** A question came in and is in the log. Asked before, it is the same ask and nothing happens. */
  async open(question: Question): Promise<void> {
    const id = askId(question)
    // The agent's line and the list of what it has pending may bring the same question at the same time.
    const underWay = this.#opening.get(id)
    if (underWay !== undefined) return underWay
    const opening = this.#open(question, id).finally(() => this.#opening.delete(id))
    this.#opening.set(id, opening)
    return opening
  }

  async #open(question: Question, id: string): Promise<void> {
    const { directory, uses } = this.#options
    const known = await directory.getAsk(id)
    if (known !== undefined) return known.state === "pending" ? undefined : this.#delivery.askedAgain(id)
    const { request } = question
    const asked = recordOf(question)
    await this.#options.sessions.recall(asked)
    const verdict = this.#options.sessions.judge(wholeAsk(asked, request))
    const ask = withVerdict(asked, verdict)
    const decided = verdictAnswer(ask, verdict)
    // In the same turn as the verdict: the next request sees what this one uses up.
    const used = decided === undefined ? undefined : uses.add(ask.sessionId, verdict.counts ?? [])
    await this.#supersede(ask)
    if (decided !== undefined) return this.#settleAtOnce(ask, request, { decided, rule: verdict.rule, used })
    await this.#ifStays(ask.sessionId, directory.addAsk(ask), () => {
      this.#hold(ask)
      this.#options.sessions.publish(wholeAsk(ask, request))
    })
  }

  /** An ask that a rule decides is never seen pending: asked and settled in one commit. */
  async #settleAtOnce(ask: AskRecord, request: Request, { decided, rule, used }: Decided) {
    const settledAsk = settledAs(ask, fitAnswer(ask, decided), { at: this.#now(), by: ACTOR.rule(rule), via: "policy" })
    const { directory } = this.#options
    const [, result] = await Promise.all([directory.addAsk(ask), this.#commit(settledAsk, request, used)])
    if (result.changed) await this.#delivery.deliver(settledAsk, request)
  }

  async answer(id: string, answer: AskAnswer, how: Answering): Promise<Ask> {
    const { reader } = this.#options
    await this.#extending.get(id)
    const ask = await this.#taken(id)
    if (how.answerId !== undefined && ask.answerId === how.answerId) return reader.whole(ask)
    if (ask.state !== "pending") throw alreadySettled(await reader.whole(ask))
    if (how.inputHash !== undefined && how.inputHash !== ask.inputHash) {
      throw new HubError("ask/changed", "the ask's input is not the one that was answered: read it again", {
        details: { ask: await reader.whole(ask) },
      })
    }
    return this.#settle(ask, answer, how)
  }

  /** More time for one that expires: one at a time, so that two who see the same end put it off once. */
  async extend(id: string, how: Extending): Promise<Ask> {
    const before = this.#extending.get(id) ?? Promise.resolve()
    const extending = before.then(() => this.#extend(id, how))
    const over = Promise.allSettled([extending])
    this.#extending.set(id, over)
    return extending.finally(() => {
      if (this.#extending.get(id) === over) this.#extending.delete(id)
    })
  }

  async #extend(id: string, { by, expiresAt }: Extending): Promise<Ask> {
    const { reader, directory, sessions } = this.#options
    const ask = await this.#taken(id)
    const request = (await reader.request(ask)) ?? {}
    if (ask.state !== "pending") throw alreadySettled(wholeAsk(ask, request))
    // One moment can be written in several ways.
    const isPutOff = ask.expiresAt !== undefined && Date.parse(expiresAt ?? ask.expiresAt) !== Date.parse(ask.expiresAt)
    if (isPutOff) return wholeAsk(ask, request)
    const longer = extended(ask)
    if (longer === undefined) throw notExtendable(wholeAsk(ask, request))
    const audit = auditOfExtension(ask, longer, { at: this.#now(), by })
    const result = await directory.settleAsk(id, "pending", longer, { synced: true, audit })
    if (!result.changed) throw alreadySettled(wholeAsk(result.ask, request))
    const whole = wholeAsk(longer, request)
    // Settled a moment later, it is not told as open after that.
    if (!this.#pending.has(id)) return whole
    this.#hold(longer)
    sessions.publish(whole)
    return whole
  }

  /** The agent took its question back. */
  async cancelled(incarnation: string, requestId: string): Promise<void> {
    const ask = this.find(incarnation, requestId)
    if (ask !== undefined) await this.#close(ask, "cancelled", "agent")
  }

  /** The process is gone, or another took its place: nobody is left to hear an answer. */
  async orphan({ sessionId, incarnation, except }: Orphaned): Promise<void> {
    // Its conversation may have gone through several sessions, each with asks of its own.
    const isGone = (ask: AskRecord) =>
      ask.incarnation !== except && (ask.sessionId === sessionId || ask.incarnation === incarnation)
    for (const ask of this.pending().filter(isGone)) await this.#orphanOne(ask)
    await this.#delivery.giveUp(sessionId, isGone)
  }

  /** A store that cannot take it now is asked again: whoever tells of the end of a process is not to tell it twice. */
  async #orphanOne(ask: AskRecord): Promise<void> {
    if (!this.#pending.has(ask.id)) return
    await this.#close(ask, "orphaned", "hub").catch(() => {
      if (!this.#pending.has(ask.id)) return
      const { clock = systemClock } = this.#options
      this.#stopTimer(ask.id)
      this.#timers.set(
        ask.id,
        clock.after(RETRY_MS, () => void this.#orphanOne(ask), "idle"),
      )
    })
  }

  /** The same process is back: what it may not have heard, on an earlier connection than this, is said again. */
  sendAgain(process: Returned, connectedAt: number): Promise<void> {
    return this.#delivery.sendAgain(process, connectedAt)
  }

  /** The agent did something with the answer: it need not be sent again. */
  confirm(incarnation: string, toolUseId: string | undefined): void {
    this.#delivery.confirm(incarnation, toolUseId)
  }

  close(): void {
    for (const id of this.#timers.keys()) this.#stopTimer(id)
  }

  async #settle(known: AskRecord, answer: AskAnswer, how: Answering): Promise<Ask> {
    const { grants, reader } = this.#options
    const request = await reader.request(known)
    await this.#options.sessions.recall(known)
    const ask = this.#latest(known)
    const kept = grants.take(ask, answer, how.by)
    const fitting = fitAnswer(ask, kept.answer)
    if (request === undefined && fitting.state === "allowed") {
      throw new HubError("store/failed", "What this ask asked for cannot be read: it can only be denied")
    }
    const refused = this.#refusal(ask, fitting, { request: request ?? {}, grants: kept.grants, how })
    if (refused !== undefined) {
      const { by, via } = how
      await this.#options.directory.addAudit(auditOfRefusal(ask, refused, { at: this.#now(), by, via }))
      throw refused
    }
    const settledAsk = settledAs(ask, fitting, { at: this.#now(), ...how })
    const result = await this.#commit(settledAsk, request)
    if (!result.changed) {
      const winner = wholeAsk(result.ask, request ?? {})
      if (how.answerId !== undefined && winner.answerId === how.answerId) return winner
      throw alreadySettled(winner)
    }
    const told = await this.#delivery.deliver(settledAsk, request ?? {})
    // After the wire: an answer that stands is not held up by a grant that could not be kept.
    await grants.keep(kept.grants)
    return wholeAsk(told, request ?? {})
  }

  /** An allow is judged when it is given: the rules may be others than when the agent asked, and so may the input. */
  #refusal(ask: AskRecord, { state, answer }: FittingAnswer, about: Allowed): HubError | undefined {
    if (state !== "allowed") return undefined
    const { request, ...rest } = about
    const input = answer["updatedInput"]
    const isChanged = isObject(input)
    const verdict = this.#options.sessions.judge(wholeAsk(ask, isChanged ? { ...request, input } : request))
    const startedBy = this.#options.sessions.startedBy(ask.sessionId)
    return refusalOf(wholeAsk(ask, request), { ...rest, verdict, isChanged, startedBy })
  }

  async #close(ask: AskRecord, state: AskState, via: AskVia): Promise<void> {
    const request = await this.#options.reader.request(ask).catch(() => undefined)
    await this.#commit({ ...this.#latest(ask), state, settledAt: this.#now(), via }, request)
  }

  /** It may have been given more time since it was looked up. */
  #latest(ask: AskRecord): AskRecord {
    return this.#pending.get(ask.id) ?? ask
  }

  /** Compare-and-set, with its audit record in the same commit. */
  async #commit(next: AskRecord, request: Request | undefined, uses?: CountedUses): Promise<SettledAsk> {
    const { directory, sessions } = this.#options
    const audit = auditOf(next, next.settledAt ?? this.#now())
    const result = await directory.settleAsk(next.id, "pending", next, { synced: true, audit, ...defined({ uses }) })
    if (!result.changed) return result
    this.#release(next)
    sessions.publish(wholeAsk(next, request ?? {}))
    return result
  }

  async #supersede(ask: AskRecord): Promise<void> {
    if (ask.toolUseId === undefined) return
    for (const other of this.pendingOf(ask.sessionId)) {
      if (other.toolUseId === ask.toolUseId && other.id !== ask.id) await this.#close(other, "superseded", "agent")
    }
  }

  #hold(ask: AskRecord): void {
    const { id, sessionId, expiresAt } = ask
    const own = this.#bySession.get(sessionId) ?? new Map<string, AskRecord>()
    this.#bySession.set(sessionId, own.set(id, ask))
    this.#pending.set(id, ask)
    if (expiresAt !== undefined) this.#startTimer(id, expiresAt)
  }

  async #expire(id: string, expiresAt: string): Promise<void> {
    const due = this.#pending.get(id)
    const request = due === undefined ? undefined : await this.#options.reader.request(due)
    await this.#extending.get(id)
    const ask = this.#pending.get(id)
    if (ask === undefined || ask.expiresAt !== expiresAt) return
    const { answer } = fitAnswer(ask, expiredAnswer(ask))
    const next: AskRecord = { ...ask, state: "expired", settledAt: this.#now(), via: "timeout", answer }
    const { changed } = await this.#commit(next, request)
    if (changed) await this.#delivery.deliver(next, request ?? {})
  }

  /** As it is once its session is here: it may have been settled elsewhere until then. */
  async #taken(id: string): Promise<AskRecord> {
    const ask = await this.#known(id)
    if (ask.state !== "pending") return ask
    await this.#options.sessions.load(ask.sessionId)
    return this.#known(id)
  }

  async #known(id: string): Promise<AskRecord> {
    const ask = this.#pending.get(id) ?? (await this.#options.directory.getAsk(id))
    if (ask === undefined) throw unknown("ask", id)
    return ask
  }

  #release({ id, sessionId }: AskRecord): void {
    const own = this.#bySession.get(sessionId)
    own?.delete(id)
    if (own?.size === 0) this.#bySession.delete(sessionId)
    this.#pending.delete(id)
    this.#stopTimer(id)
  }

  /** Instead of the end it had, if it had one. A store that cannot take the end is asked again: the agent waits for an answer. */
  #startTimer(id: string, expiresAt: string, ms = Math.max(0, Date.parse(expiresAt) - Date.parse(this.#now()))): void {
    const { clock = systemClock } = this.#options
    this.#stopTimer(id)
    const run = () => {
      if (ms > LONGEST_TIMER_MS) return this.#startTimer(id, expiresAt)
      this.#expire(id, expiresAt).catch(() => {
        const isDue = this.#timers.has(id) && this.#pending.get(id)?.expiresAt === expiresAt
        if (isDue) this.#startTimer(id, expiresAt, RETRY_MS)
      })
    }
    this.#timers.set(id, clock.after(Math.min(ms, LONGEST_TIMER_MS), run, "idle"))
  }

  #now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }

  #stopTimer(id: string): void {
    this.#timers.get(id)?.()
    this.#timers.delete(id)
  }
}

const RETRY_MS = 5_000
