import type { Envelope } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { Ask, AskAnswer, AskState, AskVia } from "../model/ask.ts"
import type { NewAuditRecord } from "../model/audit.ts"
import type { Directory } from "../store/directory.ts"
import { type FittingAnswer, fitAnswer } from "./answer.ts"
import { askId, askOfRequest, type Question } from "./ask-of-request.ts"
import { GrantDesk } from "./grant-desk.ts"

/** What the policy says of an ask. */
export interface AskVerdict {
  readonly effect: "allow" | "deny" | "ask"
  readonly rule?: string
  readonly reason: string
  readonly message?: string
  readonly expiresAfterMs?: number
}

export interface AskDeskOptions {
  readonly directory: Directory
  readonly judge: (ask: Ask) => AskVerdict
  /** Puts a line on the wire of the process that asked. False when that process cannot be reached now. */
  readonly send: (incarnation: string, message: Envelope) => Promise<boolean>
  /** An ask is new or has changed. Called when it is durable. */
  readonly publish: (ask: Ask) => void
  readonly grants: GrantDesk
  readonly now?: () => Date
  readonly setTimer?: (run: () => void, ms: number) => () => void
}

export interface Answering {
  readonly by: string
  readonly via: AskVia
  readonly inputHash?: string
  readonly answerId?: string
}

/** The process that is gone, the session it was in, and the one that took its place, if one did. */
export interface Orphaned {
  readonly sessionId: string
  readonly incarnation: string | null
  readonly except: string | null
}

/** An answer whose effect was not seen yet. */
interface Unconfirmed {
  readonly incarnation: string
  readonly ask: Ask
  readonly wire: Envelope
  /** When it was last put on the wire, by the clock that only goes forward. */
  readonly sentAt?: number
}

/** Answers that were on the wire but whose effect was not seen yet are sent again to a process that came back. */
const MAX_UNCONFIRMED = 1_000

/** The agents' open questions. The first valid answer wins, everywhere at once; the order is commit, wire, reply. */
export class AskDesk {
  readonly #options: AskDeskOptions
  readonly #pending = new Map<string, Ask>()
  readonly #counts = new Map<string, number>()
  readonly #unconfirmed = new Map<string, Unconfirmed>()
  readonly #timers = new Map<string, () => void>()
  readonly #opening = new Map<string, Promise<void>>()

  constructor(options: AskDeskOptions) {
    this.#options = options
  }

  /** At start: what was pending is pending, and what was answered without a sign of delivery will be sent again. */
  async load(): Promise<void> {
    for (const ask of await this.#options.directory.listAsks({ state: "pending" })) this.#hold(ask)
    for (const ask of await this.#options.directory.listAsks({ undelivered: true, limit: MAX_UNCONFIRMED })) {
      if (ask.answer === undefined) continue
      const wire: Envelope = {
        type: "control_response",
        response: { subtype: "success", request_id: ask.requestId, response: ask.answer },
      }
      this.#unconfirmed.set(ask.id, { incarnation: ask.incarnation, ask, wire })
    }
  }

  pending(): readonly Ask[] {
    return [...this.#pending.values()]
  }

  pendingOf(sessionId: string): readonly Ask[] {
    return [...this.#pending.values()].filter((ask) => ask.sessionId === sessionId)
  }

  pendingCount(sessionId: string): number {
    return this.#counts.get(sessionId) ?? 0
  }

  /** The open question of this process with this id. */
  find(incarnation: string, requestId: string): Ask | undefined {
    for (const ask of this.#pending.values()) {
      if (ask.requestId === requestId && ask.incarnation === incarnation) return ask
    }
    return undefined
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
    const { directory } = this.#options
    const known = await directory.getAsk(id)
    if (known !== undefined) return this.#askedAgain(known)
    const asked = askOfRequest(question)
    const verdict = this.#options.judge(asked)
    const ask = withVerdict(asked, verdict)
    await this.#supersede(ask)
    const decided = verdictAnswer(ask, verdict)
    if (decided !== undefined) return this.#settleAtOnce(ask, decided, `rule ${verdict.rule ?? "?"}`)
    await directory.addAsk(ask)
    this.#hold(ask)
    this.#options.publish(ask)
  }

  /** What a rule decides is never seen pending: asked and settled in one commit. */
  async #settleAtOnce(ask: Ask, answer: AskAnswer, by: string): Promise<void> {
    const fitting = fitAnswer(ask, answer)
    const settledAsk = this.#settledAs(ask, fitting, { by, via: "policy" })
    const adding = this.#options.directory.addAsk(ask)
    const [, result] = await Promise.all([adding, this.#commit(ask, settledAsk)])
    if (result.changed) await this.#deliver(settledAsk, fitting.wire)
  }

  async answer(id: string, answer: AskAnswer, how: Answering): Promise<Ask> {
    const ask = this.#pending.get(id) ?? (await this.#options.directory.getAsk(id))
    if (ask === undefined) throw new HubError("ask/unknown", `there is no ask ${id}`)
    if (how.answerId !== undefined && ask.answerId === how.answerId) return ask
    if (ask.state !== "pending") throw settled(ask)
    if (how.inputHash !== undefined && how.inputHash !== ask.inputHash) {
      throw new HubError("ask/changed", "the ask's input is not the one that was answered: read it again", {
        details: { ask },
      })
    }
    return this.#settle(ask, answer, how)
  }

  /** The agent took its question back. */
  async cancelled(incarnation: string, requestId: string): Promise<void> {
    const ask = this.find(incarnation, requestId)
    if (ask !== undefined) await this.#close(ask, "cancelled", "agent")
  }

  /** The process is gone, or another took its place: nobody is left to hear an answer. */
  async orphan({ sessionId, incarnation, except }: Orphaned): Promise<void> {
    // Its conversation may have gone through several sessions, each with asks of its own.
    const isGone = (ask: Ask) =>
      ask.incarnation !== except && (ask.sessionId === sessionId || ask.incarnation === incarnation)
    for (const ask of this.pending().filter(isGone)) await this.#close(ask, "orphaned", "hub")
    for (const [id, entry] of this.#unconfirmed) if (isGone(entry.ask)) this.#unconfirmed.delete(id)
  }

  /**
   * The same process is back: what it may not have heard is said again. Not what it was told on this connection already:
   * 2.1.37 takes a second answer, while the tool runs, for leave to run it once more.
   */
  async sendAgain(incarnation: string, connectedAt: number): Promise<void> {
    for (const entry of this.#unconfirmed.values()) {
      if (entry.incarnation !== incarnation || (entry.sentAt ?? 0) >= connectedAt) continue
      await this.#deliver(entry.ask, entry.wire)
    }
  }

  /** The agent did something with the answer: it need not be sent again. */
  confirm(incarnation: string, toolUseId: string | undefined): void {
    for (const [id, entry] of this.#unconfirmed) {
      if (entry.incarnation !== incarnation) continue
      if (toolUseId === undefined || entry.ask.toolUseId === toolUseId) this.#unconfirmed.delete(id)
    }
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
  }

  async #settle(ask: Ask, answer: AskAnswer, how: Answering): Promise<Ask> {
    const { grants } = this.#options
    const kept = grants.take(ask, answer, how.by)
    const fitting = fitAnswer(ask, kept.answer)
    const settledAsk = this.#settledAs(ask, fitting, how)
    const result = await this.#commit(ask, settledAsk)
    if (!result.changed) {
      if (how.answerId !== undefined && result.ask.answerId === how.answerId) return result.ask
      throw settled(result.ask)
    }
    const told = await this.#deliver(settledAsk, fitting.wire)
    // After the wire: an answer that stands is not held up by a grant that could not be kept.
    await grants.keep(kept.grants)
    return told
  }

  #settledAs(ask: Ask, fitting: FittingAnswer, how: Answering): Ask {
    return {
      ...ask,
      state: fitting.state,
      settledAt: this.#now(),
      settledBy: how.by,
      via: how.via,
      answer: fitting.answer,
      ...(how.answerId === undefined ? {} : { answerId: how.answerId }),
    }
  }

  /** Committed: now it goes to the process that asked, or waits until that is back. */
  async #deliver(ask: Ask, wire: Envelope): Promise<Ask> {
    const entry: Unconfirmed = { incarnation: ask.incarnation, ask, wire }
    this.#unconfirmed.set(ask.id, { ...entry, sentAt: performance.now() })
    forgetOldest(this.#unconfirmed, MAX_UNCONFIRMED)
    if (!(await this.#options.send(ask.incarnation, wire))) {
      if (this.#unconfirmed.has(ask.id)) this.#unconfirmed.set(ask.id, entry)
      return ask
    }
    await this.#delivered(ask.id)
    return (await this.#options.directory.getAsk(ask.id)) ?? ask
  }

  async #close(ask: Ask, state: AskState, via: AskVia): Promise<void> {
    await this.#commit(ask, { ...ask, state, settledAt: this.#now(), via })
  }

  /** Compare-and-set, with its audit record in the same commit. */
  async #commit(ask: Ask, next: Ask): Promise<{ changed: boolean; ask: Ask }> {
    const audit: NewAuditRecord = {
      at: next.settledAt ?? this.#now(),
      what: `ask/${next.state}`,
      by: next.settledBy ?? null,
      via: next.via ?? null,
      sessionId: ask.sessionId,
      askId: ask.id,
      details: auditDetails(ask, next),
    }
    const result = await this.#options.directory.settleAsk(ask.id, "pending", next, { synced: true, audit })
    if (!result.changed) return result
    this.#release(ask.id)
    this.#options.publish(next)
    return result
  }

  async #delivered(id: string): Promise<void> {
    await this.#options.directory.markAskDelivered(id, this.#now())
  }

  async #askedAgain(known: Ask): Promise<void> {
    if (known.state === "pending") return
    const entry = this.#unconfirmed.get(known.id)
    // Asked once more, it has not heard the answer.
    if (entry !== undefined && entry.sentAt === undefined) await this.#deliver(entry.ask, entry.wire)
  }

  async #supersede(ask: Ask): Promise<void> {
    if (ask.toolUseId === undefined) return
    for (const other of this.pendingOf(ask.sessionId)) {
      if (other.toolUseId === ask.toolUseId && other.id !== ask.id) await this.#close(other, "superseded", "agent")
    }
  }

  #hold(ask: Ask): void {
    if (!this.#pending.has(ask.id)) this.#count(ask.sessionId, 1)
    this.#pending.set(ask.id, ask)
    if (ask.expiresAt === undefined) return
    const ms = Math.max(0, Date.parse(ask.expiresAt) - this.#date().getTime())
    const isLate = ms > LONGEST_TIMER_MS
    const run = () => (isLate ? this.#hold(ask) : this.#expire(ask))
    this.#timers.set(ask.id, this.#setTimer(run, Math.min(ms, LONGEST_TIMER_MS)))
  }

  /** A store that cannot take it now is asked again: the agent waits for an answer. */
  #expire(ask: Ask): void {
    this.#expireNow(ask).catch(() => {
      if (this.#pending.has(ask.id))
        this.#timers.set(
          ask.id,
          this.#setTimer(() => this.#expire(ask), RETRY_MS),
        )
    })
  }

  async #expireNow(ask: Ask): Promise<void> {
    const fitting = fitAnswer(ask, expiredAnswer(ask))
    const next: Ask = { ...ask, state: "expired", settledAt: this.#now(), via: "timeout", answer: fitting.answer }
    const { changed } = await this.#commit(ask, next)
    if (changed) await this.#deliver(next, fitting.wire)
  }

  #release(id: string): void {
    const ask = this.#pending.get(id)
    if (ask !== undefined) this.#count(ask.sessionId, -1)
    this.#pending.delete(id)
    this.#timers.get(id)?.()
    this.#timers.delete(id)
  }

  #count(sessionId: string, change: number): void {
    const count = this.pendingCount(sessionId) + change
    if (count > 0) this.#counts.set(sessionId, count)
    else this.#counts.delete(sessionId)
  }

  #setTimer(run: () => void, ms: number): () => void {
    if (this.#options.setTimer !== undefined) return this.#options.setTimer(run, ms)
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  }

  #date(): Date {
    return this.#options.now?.() ?? new Date()
  }

  #now(): string {
    return this.#date().toISOString()
  }
}

const RETRY_MS = 5_000
/** A timer set for longer than this fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

function withVerdict(ask: Ask, verdict: AskVerdict): Ask {
  const rule = verdict.rule === undefined ? {} : { rule: verdict.rule }
  const expires =
    verdict.effect === "ask" && verdict.expiresAfterMs !== undefined
      ? { expiresAt: new Date(Date.parse(ask.askedAt) + verdict.expiresAfterMs).toISOString() }
      : {}
  return { ...ask, ...rule, ...expires }
}

/** What the policy answers, in the form that fits the question; undefined when a person must. */
function verdictAnswer(ask: Ask, verdict: AskVerdict): AskAnswer | undefined {
  if (verdict.effect === "ask") return undefined
  const isAllowed = verdict.effect === "allow"
  if (ask.kind === "elicitation") return { action: isAllowed ? "accept" : "decline" }
  // Nobody but a person knows what a dialog's result would be.
  if (ask.kind === "dialog") return isAllowed ? undefined : { cancelled: true }
  return isAllowed ? { behavior: "allow" } : { behavior: "deny", message: verdict.message ?? verdict.reason }
}

function expiredAnswer(ask: Ask): AskAnswer {
  if (ask.kind === "elicitation") return { action: "cancel" }
  if (ask.kind === "dialog") return { cancelled: true }
  return { behavior: "deny", message: "Nobody answered this request in time. It was not refused by a person." }
}

function auditDetails(ask: Ask, next: Ask): Record<string, unknown> {
  return {
    kind: ask.kind,
    toolName: ask.toolName ?? null,
    inputHash: ask.inputHash,
    input: ask.input ?? null,
    answer: next.answer ?? null,
    rule: next.rule ?? null,
    waitedMs: Date.parse(next.settledAt ?? ask.askedAt) - Date.parse(ask.askedAt),
  }
}

function settled(ask: Ask): HubError {
  const who = ask.settledBy === undefined ? "" : ` by ${ask.settledBy}`
  return new HubError("ask/settled", `the ask is ${ask.state} already${who}`, { details: { ask } })
}

function forgetOldest(entries: Map<string, unknown>, limit: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= limit) return
    entries.delete(oldest)
  }
}
