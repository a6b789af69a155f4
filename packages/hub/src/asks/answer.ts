import { composeSuccess, defined, type Envelope, isObject } from "@signalbox/protocol"
import type { AskState, DialogAnswer, ElicitationAnswer, Grant, ToolAnswer, Why } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import { plainName } from "../model/access.ts"
import { type Ask, type AskAnswer, type AskRecord, type AskVia, areSuggested, isModeOfSession } from "../model/ask.ts"
import type { Directory } from "../store/directory.ts"
import { type AskReader, hashOf, wholeAsk } from "./whole-ask.ts"

type Payload = Readonly<Record<string, unknown>>

/** An answer that fits its ask: how the ask ends, and what the record keeps of the answer. */
export interface FittingAnswer {
  readonly state: AskState
  /** As the agent is told it, but for an allowed input that is the one it asked for. */
  readonly answer: Payload
}

/** Throws ask/invalid-answer when the answer is of another kind than the question. */
export function fitAnswer(ask: AskRecord, answer: AskAnswer): FittingAnswer {
  switch (ask.kind) {
    case "tool":
    case "question":
    case "plan":
      if ("behavior" in answer) return fitToolAnswer(ask, answer)
      throw misfit(ask, `{"behavior":"allow"} or {"behavior":"deny"}`)
    case "elicitation":
      if ("action" in answer) return fitElicitation(answer)
      throw misfit(ask, `{"action":"accept","content":{…}}, {"action":"decline"} or {"action":"cancel"}`)
    case "dialog":
      if ("result" in answer || "cancelled" in answer) return fitDialog(answer)
      throw misfit(ask, `{"result":…} or {"cancelled":true}`)
  }
}

function fitToolAnswer({ inputHash, toolUseId }: AskRecord, answer: ToolAnswer): FittingAnswer {
  const toolUse = toolUseId === undefined ? {} : { toolUseID: toolUseId }
  if (answer.behavior === "deny") {
    const { behavior, message = DENIED, interrupt } = answer
    const stop = interrupt === undefined ? {} : { interrupt }
    return { state: "denied", answer: { behavior, message, ...stop, ...toolUse } }
  }
  const { behavior, updatedInput, updatedPermissions } = answer
  const isChanged = updatedInput !== undefined && hashOf(updatedInput) !== inputHash
  const changed = isChanged ? { updatedInput } : {}
  const permissions = updatedPermissions === undefined ? {} : { updatedPermissions }
  return { state: "allowed", answer: { behavior, ...changed, ...permissions, ...toolUse } }
}

const DENIED = "Denied by the user."

function fitElicitation({ action, content }: ElicitationAnswer): FittingAnswer {
  const state = action === "accept" ? "allowed" : "denied"
  return { state, answer: { action, ...(content === undefined ? {} : { content }) } }
}

function fitDialog(answer: DialogAnswer): FittingAnswer {
  if (!("result" in answer)) return { state: "denied", answer: { behavior: "cancelled" } }
  return { state: "allowed", answer: { behavior: "completed", result: answer.result } }
}

/** Reads a raw client's `control_response` as an answer of ours; undefined for an error, which never settles an ask. */
export function answerOfWire(ask: AskRecord, response: Payload | undefined): AskAnswer | undefined {
  const payload = response?.["response"]
  if (response?.["subtype"] !== "success" || !isObject(payload)) return undefined
  switch (ask.kind) {
    case "tool":
    case "question":
    case "plan":
      return toolAnswerOf(payload)
    case "elicitation":
      return elicitationAnswerOf(payload)
    case "dialog":
      return payload["behavior"] === "completed" ? { result: payload["result"] } : { cancelled: true }
  }
}

function toolAnswerOf(payload: Payload): ToolAnswer | undefined {
  const { updatedInput, updatedPermissions, message, interrupt } = payload
  if (payload["behavior"] === "allow") {
    return {
      behavior: "allow",
      ...(isObject(updatedInput) ? { updatedInput } : {}),
      ...(Array.isArray(updatedPermissions) ? { updatedPermissions } : {}),
    }
  }
  if (payload["behavior"] !== "deny") return undefined
  return {
    behavior: "deny",
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof interrupt === "boolean" ? { interrupt } : {}),
  }
}

function elicitationAnswerOf({ action, content }: Payload): ElicitationAnswer | undefined {
  if (action !== "accept" && action !== "decline" && action !== "cancel") return undefined
  return isObject(content) ? { action, content } : { action }
}

/** The policy's word on an ask. */
export interface AskVerdict {
  readonly effect: "allow" | "deny" | "ask"
  readonly rule?: string
  readonly reason: string
  readonly message?: string
  readonly expiresAfterMs?: number
  readonly maxExtensions?: number
  readonly fourEyes?: true
  /** The rules that an allow uses up. */
  readonly counts?: readonly string[]
  readonly judgedIn?: AskRecord["judgedIn"]
  /** Left out where there were no rules: then the reason says nothing worth keeping. */
  readonly why?: Why
}

/** The policy's answer, in the form that fits the question; undefined when a person must. */
export function verdictAnswer(ask: AskRecord, verdict: AskVerdict): AskAnswer | undefined {
  if (verdict.effect === "ask") return undefined
  const isAllowed = verdict.effect === "allow"
  if (ask.kind === "elicitation") return { action: isAllowed ? "accept" : "decline" }
  // Nobody but a person knows what a dialog's result would be.
  if (ask.kind === "dialog") return isAllowed ? undefined : { cancelled: true }
  return isAllowed ? { behavior: "allow" } : { behavior: "deny", message: verdict.message ?? verdict.reason }
}

export interface Answering {
  readonly by: string
  readonly via: AskVia
  readonly inputHash?: string | undefined
  readonly answerId?: string | undefined
  /** Came without a token: nobody knows who it is. */
  readonly isNobody?: boolean
  /** May have nothing remembered but what the ask suggests. */
  readonly onlySuggested?: boolean
}

/** An allow, with what the rules that are in force say to the input that it allows. */
interface Allowing {
  readonly verdict: AskVerdict
  /** The input is not the one that the agent asked for. */
  readonly isChanged: boolean
  /** The permissions that it would have remembered. */
  readonly grants: readonly Grant[]
  readonly startedBy: string | undefined
  readonly how: Answering
}

/** Why this allow may not stand; undefined when it may. Anybody may deny: that lets nothing happen. */
export function refusalOf(ask: Ask, allowing: Allowing): HubError | undefined {
  const { verdict, isChanged, grants, how } = allowing
  if (verdict.effect === "deny") {
    const { rule, message = verdict.reason } = verdict
    const what = isChanged ? "the changed input is denied" : "a rule denies this request now"
    return new HubError("policy/denies", `${what}: ${message}`, { details: { rule } })
  }
  const alone = (ask.fourEyes ?? verdict.fourEyes) === true ? fourEyesRefusal(allowing) : undefined
  if (alone !== undefined) return new HubError("ask/four-eyes", alone)
  const updates = grants.map(({ update }) => update)
  if (how.onlySuggested !== true || areSuggested(updates, ask.suggestions)) return undefined
  return new HubError("auth/forbidden", NOT_SUGGESTED)
}

const NOT_SUGGESTED =
  "Only an admin may have something remembered that this request does not suggest: choose from its `suggestions`, or leave `updatedPermissions` out."

/** The CLI does not ask again about what it remembers, so no second person would be asked. */
const NOT_REMEMBERED =
  "This request needs a second person each time, so Claude Code must not remember it: allow it without `updatedPermissions`."

function fourEyesRefusal({ grants, startedBy, how }: Allowing): string | undefined {
  if (startedBy === undefined) return "Nobody knows who started this session, so this request can only be denied."
  const isPerson = how.via === "person" && how.isNobody !== true
  if (!isPerson || plainName(how.by) === plainName(startedBy))
    return `${startedBy} started this session, so someone else must allow this request. Anyone can deny it.`
  const isRemembered = grants.some(({ where, update }) => where !== "hub" && !isModeOfSession(update))
  return isRemembered ? NOT_REMEMBERED : undefined
}

export function notExtendable(ask: Ask): HubError {
  const why = ask.expiresAt === undefined ? "the ask does not expire" : "the ask cannot be given more time again"
  return new HubError("ask/not-extendable", why, { details: { ask } })
}

export function alreadySettled(ask: Ask): HubError {
  const who = ask.settledBy === undefined ? "" : ` by ${ask.settledBy}`
  return new HubError("ask/settled", `the ask is ${ask.state} already${who}`, { details: { ask } })
}

/** The ask as this answer leaves it. */
export function settledAs(
  ask: AskRecord,
  { state, answer }: FittingAnswer,
  how: { readonly at: string; readonly by: string; readonly via: AskVia; readonly answerId?: string | undefined },
): AskRecord {
  const { at: settledAt, by: settledBy, via, answerId } = how
  return { ...ask, state, settledAt, settledBy, via, answer, ...defined({ answerId }) }
}

/** Where the rule does not say how often. Without an end, what was to expire would not. */
const DEFAULT_EXTENSIONS = 3

export function withVerdict(ask: AskRecord, verdict: AskVerdict): AskRecord {
  const { rule, judgedIn, fourEyes, why } = verdict
  const reason = why === undefined ? undefined : verdict.reason
  return { ...ask, ...defined({ rule, judgedIn, fourEyes, reason, why }), ...expiryOf(ask, verdict) }
}

function expiryOf(ask: AskRecord, verdict: AskVerdict): Pick<AskRecord, "expiresAt" | "extension"> {
  const { effect, expiresAfterMs: byMs, maxExtensions: left = DEFAULT_EXTENSIONS } = verdict
  if (effect !== "ask" || byMs === undefined) return {}
  return { expiresAt: later(ask.askedAt, byMs), extension: { byMs, left } }
}

/** With as long again to answer it as its rule gave it at first; undefined when it may not have that. */
export function extended(ask: AskRecord): AskRecord | undefined {
  const { expiresAt, extension } = ask
  if (expiresAt === undefined || extension === undefined || extension.left < 1) return undefined
  const { byMs, left } = extension
  return { ...ask, expiresAt: later(expiresAt, byMs), extension: { byMs, left: left - 1 } }
}

function later(moment: string, ms: number): string {
  return new Date(Date.parse(moment) + ms).toISOString()
}

export function expiredAnswer(ask: AskRecord): AskAnswer {
  if (ask.kind === "elicitation") return { action: "cancel" }
  if (ask.kind === "dialog") return { cancelled: true }
  return { behavior: "deny", message: "Nobody answered this request in time. It was not refused by a person." }
}

function misfit(ask: AskRecord, right: string): HubError {
  return new HubError("ask/invalid-answer", `this ask is of kind "${ask.kind}": answer it with ${right}`)
}

export interface AnswerDeliveryOptions {
  readonly directory: Pick<Directory, "listAsks" | "markAskDelivered" | "endDelivery">
  readonly reader: AskReader
  readonly sessions: {
    /** Puts a line on the wire of the process that asked. False when that process cannot be reached now. */
    send(incarnation: string, message: Envelope): Promise<boolean>
  }
}

/** An answer whose effect was not seen yet. Restored, with `deliveredAt`: it was on the wire before this hub had the session. */
interface Unheard {
  readonly ask: AskRecord
  /** When it was last put on the wire here, by the clock that only goes forward. */
  readonly sentAt?: number
}

const wasOnWire = ({ ask, sentAt }: Unheard) => sentAt !== undefined || ask.deliveredAt !== undefined
const byProcess = (incarnation: string) => `process ${incarnation}`
const bySession = (id: string) => `session ${id}`

/** Found by process and by session with each line of an agent: never all are gone through for one of them. */
class UnheardAnswers {
  readonly #all = new Map<string, Unheard>()
  readonly #groups = new Map<string, Map<string, Unheard>>()

  all(): Iterable<Unheard> {
    return this.#all.values()
  }

  of(group: string): readonly Unheard[] {
    return [...(this.#groups.get(group)?.values() ?? [])]
  }

  get(id: string): Unheard | undefined {
    return this.#all.get(id)
  }

  /** The latest is the last. Of too many of one process the oldest that was on the wire is forgotten. */
  set(entry: Unheard): void {
    const { ask } = entry
    this.delete(ask)
    this.#all.set(ask.id, entry)
    for (const group of groupsOf(ask))
      this.#groups.set(group, (this.#groups.get(group) ?? new Map<string, Unheard>()).set(ask.id, entry))
    const own = this.#groups.get(byProcess(ask.incarnation))
    if (own === undefined || own.size <= MAX_UNHEARD) return
    const oldest = [...own.values()].find(wasOnWire)
    if (oldest !== undefined) this.delete(oldest.ask)
  }

  delete(ask: AskRecord): void {
    if (!this.#all.delete(ask.id)) return
    for (const group of groupsOf(ask)) {
      const own = this.#groups.get(group)
      own?.delete(ask.id)
      if (own?.size === 0) this.#groups.delete(group)
    }
  }
}

function groupsOf({ incarnation, sessionId }: AskRecord): readonly string[] {
  return [byProcess(incarnation), bySession(sessionId)]
}

/** The process that is back. */
export interface Returned {
  readonly incarnation: string
  /** It does not take an answer twice. */
  readonly hearsOnce: boolean
}

/** The bound for one process. What was on the wire but has had no effect yet is sent again to a process that came back. */
const MAX_UNHEARD = 1_000

/** Brings committed answers to the process that asked, and to no other. */
export class AnswerDelivery {
  readonly #options: AnswerDeliveryOptions
  readonly #unheard = new UnheardAnswers()

  constructor(options: AnswerDeliveryOptions) {
    this.#options = options
  }

  /** Answers without a sign of their effect will be sent again: what was on the wire when a hub ended may have been lost there. */
  async restore(session: string): Promise<void> {
    // The store knows better than what an earlier object of the session left here.
    this.letGo(session)
    for (const ask of await this.#options.directory.listAsks({ session, unheard: true, limit: MAX_UNHEARD })) {
      this.#unheard.set({ ask })
    }
  }

  /** Now, or when that process is back. Resolves with the ask as it then is. */
  async deliver(ask: AskRecord, known?: Ask["request"]): Promise<AskRecord> {
    const { sessions, directory, reader } = this.#options
    // Noted before anything is waited for, so that nobody else sends it meanwhile.
    this.#unheard.set({ ask, sentAt: performance.now() })
    const request = known ?? (await reader.request(ask).catch(() => undefined))
    // Without what was asked nothing is said: an allow would allow something else.
    if (request === undefined || !(await sessions.send(ask.incarnation, answerWire(wholeAsk(ask, request))))) {
      if (this.#unheard.get(ask.id) !== undefined) this.#unheard.set({ ask })
      return ask
    }
    const deliveredAt = new Date().toISOString()
    await directory.markAskDelivered(ask.id, deliveredAt)
    return { ...ask, deliveredAt }
  }

  /**
   * The same process is back: what it may not have heard is said again. Not what it was told on this connection already:
   * 2.1.37 takes a second answer, while the tool runs, for leave to run it once more. For the same reason one that hears twice gets
   * what another hub told it only when it asks again.
   */
  async sendAgain({ incarnation, hearsOnce }: Returned, connectedAt: number): Promise<void> {
    for (const { ask, sentAt } of this.#unheard.of(byProcess(incarnation))) {
      if ((sentAt ?? 0) >= connectedAt || this.#unheard.get(ask.id) === undefined) continue
      const mayBeHeard = sentAt === undefined && ask.deliveredAt !== undefined
      if (hearsOnce || !mayBeHeard) await this.deliver(ask)
    }
  }

  /** Another hub delivers what is left of this session. */
  letGo(sessionId: string): void {
    for (const { ask } of this.#unheard.of(bySession(sessionId))) this.#unheard.delete(ask)
  }

  /** Whether an answer to this session's agent has not been on the wire. */
  hasUnsent(sessionId: string): boolean {
    return this.#unheard.of(bySession(sessionId)).some((entry) => !wasOnWire(entry))
  }

  /** The session of an answer to one of these questions that may not have been heard. */
  sessionOf(isAsked: (ask: AskRecord) => boolean): string | undefined {
    for (const { ask } of this.#unheard.all()) if (isAsked(ask)) return ask.sessionId
    return undefined
  }

  /** Asked once more, it has not heard the answer. */
  async askedAgain(id: string): Promise<void> {
    const entry = this.#unheard.get(id)
    if (entry !== undefined && entry.sentAt === undefined) await this.deliver(entry.ask)
  }

  /**
   * The agent did something with the answer: it need not be sent again, after a restart neither. The end of its turn (no `toolUseId`)
   * is no sign for what was never on the wire: a sub-agent in the background still waits for that.
   */
  confirm(incarnation: string, toolUseId: string | undefined): void {
    for (const entry of this.#unheard.of(byProcess(incarnation)))
      if (toolUseId === undefined ? wasOnWire(entry) : entry.ask.toolUseId === toolUseId) this.#end(entry.ask)
  }

  /** The process that asked is gone: nobody is to hear it, after a restart neither. */
  async giveUp(session: string, isGone: (ask: AskRecord) => boolean): Promise<void> {
    for (const { ask } of this.#unheard.all()) if (isGone(ask)) this.#end(ask)
    const kept = await this.#options.directory.listAsks({ session, unheard: true, limit: MAX_UNHEARD })
    for (const ask of kept.filter(isGone)) this.#end(ask)
  }

  /** Not waited for: a store in trouble must not hold up anybody. What is not noted now is when that ends. */
  #end(ask: AskRecord): void {
    this.#unheard.delete(ask)
    this.#options.directory.endDelivery(ask.id).catch(() => undefined)
  }
}

/** The line that tells the agent. */
export function answerWire({ requestId, answer = {} }: Pick<Ask, "requestId" | "answer">): Envelope {
  return composeSuccess(requestId, answer)
}
