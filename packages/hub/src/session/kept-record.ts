import { backgroundTasksIn, type Envelope, factsIn, fieldOf, type ModelUses, sumUsd, textOf } from "@signalbox/protocol"
import { addTokens, addUses, amountOf, costOfUses, modelUsesOf, tokensOf, usedModels } from "@signalbox/protocol/usage"
import { ACTOR } from "../model/access.ts"
import { oneLine, type StoredEvent, wireObject } from "../model/event.ts"
import type { KeptSession, SessionRecord } from "../model/session-record.ts"
import type { EventLog } from "../store/event-log.ts"
import { lastLineOf, textIn } from "./last-line.ts"
import { foldTasks } from "./task-progress.ts"

export interface KeptRecordOptions {
  readonly kept: KeptSession
  /** As it is to be kept and told: with the state of this moment. */
  readonly complete: (kept: KeptSession) => KeptSession
  readonly save: (kept: KeptSession, how: { isAtRest: boolean }) => Promise<void>
  readonly tell: () => void
}

/** A change that follows from events is in the log: it may be saved and told a little later. */
const FOLD_DELAY_MS = 100

/** A session's record in memory, saved and told not for each of its changes but soon after them. */
export class KeptRecord {
  readonly #options: KeptRecordOptions
  #kept: KeptSession
  #immediate: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  /** Kept as one that nobody needs, and not changed since. */
  #isAtRest = false
  /** Its session was purged: nothing brings it back. */
  #isGone = false

  constructor(options: KeptRecordOptions) {
    this.#options = options
    this.#kept = options.kept
  }

  get value(): KeptSession {
    return this.#kept
  }

  /** Nothing but the record knows this: saved and told with this tick's writes. */
  change(kept: KeptSession): void {
    this.#kept = kept
    this.#isAtRest = false
    if (this.#immediate !== undefined || this.#isGone) return
    this.#immediate = setImmediate(() => this.#flush())
  }

  /** This could be worked out again from the events. */
  fold(kept: KeptSession): void {
    this.#kept = kept
    this.#isAtRest = false
    if (this.#immediate !== undefined || this.#timer !== undefined || this.#isGone) return
    this.#timer = setTimeout(() => this.#flush(), FOLD_DELAY_MS)
  }

  /** Saves and tells what waits. */
  settle(): void {
    if (this.#immediate !== undefined || this.#timer !== undefined) this.#flush()
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** Neither saved nor told from here on. */
  vanish(): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#immediate = undefined
    this.#timer = undefined
    this.#isGone = true
  }

  /** It came from the store as one that nobody needs. */
  cameFromRest(): void {
    this.#isAtRest = true
  }

  /** Keeps it as one that nobody needs. False: it changed meanwhile. */
  async rest(): Promise<boolean> {
    this.settle()
    if (!this.#isAtRest && !this.#isGone) {
      this.#isAtRest = true
      try {
        await this.#options.save(this.#options.complete(this.#kept), { isAtRest: true })
      } catch (error) {
        this.#isAtRest = false
        throw error
      }
    }
    return this.#isAtRest || this.#isGone
  }

  #flush(): void {
    clearImmediate(this.#immediate)
    clearTimeout(this.#timer)
    this.#immediate = undefined
    this.#timer = undefined
    this.#kept = this.#options.complete(this.#kept)
    void this.#options.save(this.#kept, { isAtRest: false })
    this.#options.tell()
  }
}

/** True if the policy judges every tool call of the process that this session has. */
export function isEnforcing({ own }: KeptSession): boolean {
  return own.launch?.enforce === true
}

const TITLE_CHARS = 80
/** A record is told and kept again and again: of what an agent says of itself, no more than this goes into it. */
const FIELD_CHARS = 4_096
const MAX_INITIALIZE_REPLY_CHARS = 1024 * 1024

/** An agent's news of these change the record. */
const TELLING: ReadonlySet<string> = new Set(["system", "result"])

interface FoldedEvent {
  readonly event: StoredEvent
  readonly message: Envelope
}

/** The process that said a line, where it may be an earlier one than the session's last. */
type SayerOf = (message: Envelope) => string | undefined

/** Folds events into the session's record. In one go: of a thousand messages only the last one's last line is looked for. */
export function foldEvents(session: KeptSession, events: readonly FoldedEvent[], sayerOf?: SayerOf): KeptSession {
  const last = events.at(-1)
  if (last === undefined) return session
  let folded = session
  let lastNews: StoredEvent | undefined
  for (const { event, message } of events) {
    const before = folded
    const other = sayerOf === undefined || !TELLING.has(message.type) ? undefined : sayerOf(message)
    const isLeftover = other !== undefined && other !== session.own.incarnation
    folded = isLeftover ? foldLeftover(folded, message, other) : foldMessage(folded, event, message)
    if (isNews(event, message, tasksOf(before) !== tasksOf(folded))) lastNews = event
  }
  const lastLine = lastLineIn(events)
  const lastAgentUuid = lastUuidIn(events)
  const spoken = lastLine === undefined ? {} : { lastLine }
  const moved = lastNews === undefined ? {} : { updatedAt: timeOf(lastNews) }
  return {
    record: { ...folded.record, ...spoken, lastSeq: last.event.seq, ...moved },
    own: lastAgentUuid === undefined ? folded.own : { ...folded.own, lastAgentUuid },
  }
}

/** A hub that starts again hears from every agent, and newer ones tell their background tasks: that is no news of a session. */
function isNews({ from }: StoredEvent, message: Envelope, hasOtherTasks: boolean): boolean {
  const subtype = message["subtype"]
  if (from === "hub") return subtype !== "connected" && subtype !== "disconnected"
  return message.type !== "system" || subtype !== "background_tasks_changed" || hasOtherTasks
}

function tasksOf({ record }: KeptSession): number {
  return record.backgroundTasks ?? 0
}

function timeOf({ at }: StoredEvent): string {
  return new Date(at).toISOString()
}

/** The same object when nothing changed. */
function foldMessage(session: KeptSession, event: StoredEvent, message: Envelope): KeptSession {
  switch (message.type) {
    case "system":
      return event.from === "agent" ? foldSystem(session, message, timeOf(event)) : session
    case "result":
      return event.from === "agent" ? foldResult(session, message, event) : session
    case "user":
      if (event.from === "client") return foldUserMessage(session, message, timeOf(event))
      return event.from === "agent" ? foldTasks(session, message) : session
    case "assistant":
      return event.from === "agent" ? foldTasks(session, message) : session
    case "control_request":
      return event.from === "agent" ? session : foldRequest(session, message, event.by)
    case "control_response":
      return event.from === "agent" ? session : foldAnswer(session, message, event.by)
    default:
      return session
  }
}

/** A line of a process that is not here any more tells nothing of the one that is: only what it had used is counted. */
function foldLeftover(session: KeptSession, message: Envelope, incarnation: string): KeptSession {
  if (message.type !== "result") return session
  const { record, own } = session
  const used = lateCost(session, message, incarnation)
  const uses = lateUses(session, message, incarnation)
  const tokens = addTokens(record.tokens, tokensOf(message))
  return {
    own: { ...own, costBase: sumUsd(own.costBase, used), modelBase: addUses(own.modelBase, uses) },
    record: {
      ...record,
      turns: record.turns + 1,
      costUsd: sumUsd(record.costUsd, used),
      tokens,
      ...(Object.keys(uses).length === 0 ? {} : { models: addUses(record.models, uses) }),
    },
  }
}

/** The earlier process's total beyond what was counted when the next came. */
function lateCost({ own }: KeptSession, message: Envelope, incarnation: string): number {
  const since = usedSince(message)
  if (since !== undefined) return since
  const { earlierCost } = own
  const total = totalCost(message)
  if (earlierCost?.incarnation !== incarnation || total === undefined) return 0
  return Math.max(0, earlierCost.base + total - own.costBase)
}

function lateUses({ own }: KeptSession, message: Envelope, incarnation: string): ModelUses {
  const told = modelUsesOf(message)
  if (told === undefined) return {}
  if (told.since === "result") return told.uses
  const { earlierCost } = own
  if (earlierCost?.incarnation !== incarnation) return {}
  return usedModels(addUses(addUses(earlierCost.models, told.uses), own.modelBase, -1))
}

function foldRequest(session: KeptSession, message: Envelope, by: string | undefined): KeptSession {
  return textOf(fieldOf(message, "request"), "subtype") === "interrupt" ? foldInterrupt(session, by) : session
}

/** An answer that denies may end the turn too: somebody chose that, so the turn did not fail. */
function foldAnswer(session: KeptSession, message: Envelope, by: string | undefined): KeptSession {
  const answer = fieldOf(fieldOf(message, "response"), "response")
  return answer?.["interrupt"] === true ? foldInterrupt(session, by) : session
}

function foldInterrupt(session: KeptSession, by: string | undefined): KeptSession {
  return session.record.turnStartedAt === undefined ? session : withRecord(session, { interruptedBy: by ?? ACTOR.hub })
}

function lastLineIn(events: readonly FoldedEvent[]): string | undefined {
  for (let index = events.length - 1; index >= 0; index--) {
    const folded = events[index]
    if (folded?.event.from !== "agent" || folded.message.type !== "assistant") continue
    const line = folded.message["parent_tool_use_id"] == null ? lastLineOf(folded.message) : undefined
    if (line !== undefined) return line
  }
  return undefined
}

function lastUuidIn(events: readonly FoldedEvent[]): string | undefined {
  for (let index = events.length - 1; index >= 0; index--) {
    const folded = events[index]
    const uuid = folded?.event.from === "agent" ? textOf(folded.message, "uuid") : undefined
    if (uuid !== undefined) return uuid
  }
  return undefined
}

/** A message to the agent: the first one names the session. */
function foldUserMessage(session: KeptSession, message: Envelope, at: string): KeptSession {
  const text = textIn(fieldOf(message, "message")?.["content"])
  const title = session.record.title ?? (text === "" ? null : oneLine(text, TITLE_CHARS))
  const started = session.record.turnStartedAt === undefined ? { turnStartedAt: at } : {}
  return withRecord(session, { title, ...started })
}

/** Wire totals are cumulative per process: a new process starts from what the others had used. */
export function foldNewProcess(session: KeptSession, incarnation: string): KeptSession {
  const { turnStartedAt: _cut, interruptedBy: _by, backgroundTasks: _gone, ...kept } = session.record
  // A limit of thinking goes with the process that it was set in; the next one may work in another folder.
  const { maxThinkingTokens: _unset, changes: _elsewhere, ...record } = kept
  const { costUsd, models = {} } = record
  const { incarnation: before, costBase, modelBase = {} } = session.own
  const earlier = before === null ? {} : { earlierCost: { incarnation: before, base: costBase, models: modelBase } }
  return { record, own: { ...session.own, ...earlier, incarnation, costBase: costUsd, modelBase: models } }
}

/** The same process goes on in another session: what it had used so far was the other's. */
export function foldHandOver(next: KeptSession, before: KeptSession): KeptSession {
  const { incarnation, initializeReply, costBase, modelBase } = before.own
  const usedSoFar = before.record.costUsd - costBase
  const { turnStartedAt: _cut, interruptedBy: _by, ...rest } = next.record
  const { maxThinkingTokens } = before.record
  const record = maxThinkingTokens === undefined ? rest : { ...rest, maxThinkingTokens }
  const own = { ...next.own, incarnation, initializeReply, costBase: sumUsd(record.costUsd, -usedSoFar) }
  const usesSoFar = addUses(before.record.models, modelBase, -1)
  return { record, own: { ...own, modelBase: addUses(record.models, usesSoFar, -1) } }
}

function foldSystem(session: KeptSession, message: Envelope, at: string): KeptSession {
  if (message["subtype"] === "session_title_changed") {
    const title = fieldText(message, "title")
    return title === undefined ? session : withRecord(session, { title })
  }
  const tasks = backgroundTasksIn(message)
  if (tasks !== undefined) return withRecord(session, { backgroundTasks: tasks.length })
  const { session_id: _own, capabilities: _unkept, claude_code_version: cliVersion, ...facts } = factsIn(message)
  const named = cliVersion === undefined ? facts : { ...facts, cliVersion }
  // An init begins every turn, also that of a message which waited for the turn before it.
  const isFirst = message["subtype"] === "init" && session.record.turnStartedAt === undefined
  return withRecord(session, isFirst ? { ...named, turnStartedAt: at } : named)
}

function foldResult(session: KeptSession, message: Envelope, event: StoredEvent): KeptSession {
  const { record, own } = session
  const { turnStartedAt: _over, interruptedBy, ...rest } = record
  const isError = message["is_error"] === true
  const told = { subtype: fieldText(message, "subtype") ?? "unknown", isError, at: timeOf(event), seq: event.seq }
  return {
    own,
    record: {
      ...rest,
      turns: record.turns + 1,
      costUsd: costAfter(session, message),
      tokens: addTokens(record.tokens, tokensOf(message)),
      ...modelsAfter(session, message),
      lastResult: interruptedBy === undefined ? told : { ...told, interruptedBy },
    },
  }
}

/**
 * Newer CLIs say what was used since the last result, and carry their total over when a conversation is resumed. The total of
 * older ones begins at nothing with each process.
 */
function costAfter({ record, own }: KeptSession, message: Envelope): number {
  const since = usedSince(message)
  if (since !== undefined) return sumUsd(record.costUsd, since)
  const total = totalCost(message)
  return total === undefined ? record.costUsd : sumUsd(own.costBase, total)
}

function usedSince(message: Envelope): number | undefined {
  const told = modelUsesOf(message)
  return told?.since === "result" ? costOfUses(told.uses) : undefined
}

function modelsAfter({ record, own }: KeptSession, message: Envelope): { readonly models?: ModelUses } {
  const told = modelUsesOf(message)
  if (told === undefined) return {}
  return { models: usedModels(addUses(told.since === "result" ? record.models : own.modelBase, told.uses)) }
}

function totalCost(message: Envelope): number | undefined {
  const cost = message["total_cost_usd"] ?? message["cost_usd"]
  return typeof cost === "number" ? amountOf(cost) : undefined
}

/** The agent's answer to `initialize`; one too long to be kept with the record is not kept. */
export function foldInitializeReply(session: KeptSession, payload: Readonly<Record<string, unknown>>): KeptSession {
  const cliVersion = fieldText(payload, "claude_code_version")
  const named = cliVersion === undefined ? session : withRecord(session, { cliVersion })
  return isKeepable(payload) ? { ...named, own: { ...named.own, initializeReply: payload } } : named
}

function isKeepable(payload: unknown): boolean {
  try {
    return JSON.stringify(payload).length <= MAX_INITIALIZE_REPLY_CHARS
  } catch {
    // Nested deeper than can be written.
    return false
  }
}

function fieldText(message: Readonly<Record<string, unknown>>, name: string): string | undefined {
  return textOf(message, name)?.slice(0, FIELD_CHARS)
}

function withRecord(session: KeptSession, change: Partial<SessionRecord>): KeptSession {
  const before: Readonly<Record<string, unknown>> = { ...session.record }
  const changed = Object.entries(change).some(([name, value]) => before[name] !== value)
  return changed ? { ...session, record: { ...session.record, ...change } } : session
}

const PAGE = { limit: 1_000, maxBytes: 4 * 1024 * 1024 }
const NOTHING: Envelope = { type: "unknown" }

/** The record with what the log has beyond it: it is saved a little later than the events are. */
export async function foldRest(log: EventLog, kept: KeptSession): Promise<KeptSession> {
  const { id } = kept.record
  const { lastSeq } = await log.bounds(id)
  let caughtUp = kept
  while (caughtUp.record.lastSeq < lastSeq) {
    const events = await log.read(id, { after: caughtUp.record.lastSeq, ...PAGE })
    if (events.length === 0) break
    const told = events.map((event) => ({ event, message: wireObject(event.line) ?? NOTHING }))
    caughtUp = foldEvents(caughtUp, told)
  }
  return caughtUp
}
