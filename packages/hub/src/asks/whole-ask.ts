import { createHash } from "node:crypto"
import { defined, fieldOf, isObject, textOf } from "@signalbox/protocol"
import { createAgentReader } from "@signalbox/protocol/dialects"
import type { AuditRecord, Ask as PublicAsk } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { Ask, AskKind, AskRecord } from "../model/ask.ts"
import type { Directory, NewAuditRecord } from "../store/directory.ts"
import type { EventLog } from "../store/event-log.ts"
import { suggestionsFor } from "./suggestions.ts"

type Json = Readonly<Record<string, unknown>>

export interface Question {
  readonly sessionId: string
  readonly incarnation: string
  readonly requestId: string
  readonly request: Json
  readonly seq: number
  /** The event at `seq` says just this: the record need not say it again. */
  readonly isInEvent?: boolean
  readonly askedAt: string
  /** Its CLI can be told that a question was left unanswered. */
  readonly takesUnanswered?: boolean
}

/** The id follows from the question, so that the same one, brought again by a reconnect or a restart, is the same ask. */
export function recordOf(question: Question): AskRecord {
  const { request, incarnation, takesUnanswered, isInEvent, ...rest } = question
  const kind = kindOf(request)
  const toolName = textOf(request, "tool_name")
  const toolUseId = textOf(request, "tool_use_id")
  return {
    id: askId(question),
    ...rest,
    ...(isInEvent === true ? {} : { request }),
    kind,
    state: "pending",
    inputHash: hashOf(inputIn(request) ?? request),
    ...(toolName === undefined ? {} : { toolName }),
    ...(kind === "question" && takesUnanswered === true ? { skippable: true } : {}),
    incarnation,
    ...(toolUseId === undefined ? {} : { toolUseId }),
  }
}

export function askId(question: Pick<Question, "sessionId" | "incarnation" | "requestId">): string {
  const { sessionId, incarnation, requestId } = question
  const digest = createHash("sha256")
    .update(JSON.stringify([sessionId, incarnation, requestId]))
    .digest("base64url")
  return `ask_${digest.slice(0, 22)}`
}

export function hashOf(value: unknown): string {
  return createHash("sha256").update(textOfValue(value)).digest("hex")
}

/** Reading takes any depth, writing does not. */
function textOfValue(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new HubError("request/invalid", "its input is nested too deeply", { cause })
  }
}

function kindOf(request: Json): AskKind {
  if (request["subtype"] === "elicitation") return "elicitation"
  if (request["subtype"] === "request_user_dialog") return "dialog"
  if (request["tool_name"] === "AskUserQuestion") return "question"
  return request["tool_name"] === "ExitPlanMode" ? "plan" : "tool"
}

function inputIn(request: Json): Json | undefined {
  return fieldOf(request, "input")
}

/** Reads what asks asked. Nobody else knows where that is kept. */
export class AskReader {
  readonly #log: Pick<EventLog, "read" | "sizes">
  readonly #read = createAgentReader()

  constructor(log: Pick<EventLog, "read" | "sizes">) {
    this.#log = log
  }

  /** Undefined when its event is gone. */
  async request(record: AskRecord): Promise<Json | undefined> {
    if (record.request !== undefined) return record.request
    const [event] = await this.#log.read(record.sessionId, placeOf(record))
    const asked = event === undefined ? undefined : this.#read(event.line)
    return asked === undefined || asked.kind === "malformed" ? undefined : fieldOf(asked.message, "request")
  }

  /** To be shown: without its event nothing is left of what it asked. */
  async whole(record: AskRecord): Promise<Ask> {
    return wholeAsk(record, (await this.request(record)) ?? {})
  }

  /** About what it takes as JSON, which may say the input three times. */
  async bytes(record: AskRecord): Promise<number> {
    const [line] = await this.#log.sizes(record.sessionId, placeOf(record))
    return RECORD_BYTES + 3 * (line?.bytes ?? 0)
  }
}

const RECORD_BYTES = 2048

function placeOf({ seq }: AskRecord) {
  return { after: seq - 1, before: seq + 1, limit: 1 }
}

/**
 * The record with what it leaves out: what was asked, and the input that an allow did not change. An ask for a second person
 * suggests nothing: nobody is asked again about what the CLI remembers.
 */
export function wholeAsk(record: AskRecord, asked: Json): Ask {
  const request = record.fourEyes === true ? without(asked, "permission_suggestions") : asked
  const input = inputIn(request)
  const given = request["permission_suggestions"]
  const suggestions = Array.isArray(given) ? given : ownSuggestions(record, request)
  const { answer, ...rest } = record
  return {
    ...rest,
    request,
    ...(input === undefined ? {} : { input }),
    ...(suggestions === undefined ? {} : { suggestions }),
    ...(answer === undefined ? {} : { answer: record.purged === true ? answer : wholeAnswer(answer, input) }),
  }
}

/** For a call that a hook wants to be asked about the CLI suggests nothing. What an ask rule asks about, no "always" would answer. */
function ownSuggestions({ kind, rule, fourEyes }: AskRecord, request: Json): readonly Json[] | undefined {
  const isFree = rule === undefined && fourEyes !== true
  const isOfHook = kind === "tool" && isFree && request["decision_reason_type"] === "hook"
  return isOfHook ? suggestionsFor(request) : undefined
}

/** An allow always says the input: without it 2.1.37 turns an allow into a denial. */
function wholeAnswer(answer: Json, input: Json | undefined): Json {
  const { behavior, ...rest } = answer
  if (behavior !== "allow" || isObject(rest["updatedInput"])) return answer
  return { behavior, updatedInput: input ?? {}, ...rest }
}

const LONG_INPUT_CHARS = 64 * 1024

/**
 * For streams and the history, where the input stands in its event already. A long input is said once while the ask is
 * open, and not at all when it is settled, unless somebody changed it.
 */
export function briefAsk(ask: Ask): Ask {
  const { input, request, answer, ...rest } = ask
  if (input === undefined || JSON.stringify(input).length <= LONG_INPUT_CHARS) return ask
  return {
    ...rest,
    request: without(request, "input"),
    ...(ask.state === "pending" ? { input } : {}),
    // The same object: `wholeAnswer` put it there.
    ...(answer === undefined
      ? {}
      : { answer: answer["updatedInput"] === input ? without(answer, "updatedInput") : answer }),
  }
}

function without(object: Json, field: string): Json {
  const { [field]: _left, ...rest } = object
  return rest
}

/** Without the parts that only the hub needs. */
export function publicAsk(ask: Ask): PublicAsk {
  const { incarnation: _incarnation, toolUseId: _toolUseId, answerId: _answerId, judgedIn: _judgedIn, ...rest } = ask
  return rest
}

/** A list whose entries are read when they are asked for. */
export interface Page<T> {
  readonly entries: AsyncIterable<T>
  readonly largestBytes: number
  readonly more: boolean
}

/** A page ends before the entry that goes beyond this, but not before the first. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024

interface Wanted<R> {
  readonly records: readonly R[]
  readonly limit: number
  readonly maxBytes?: number
}

/** Asks with what they asked, no more at once than the one that is being taken. */
export function askPage(reader: AskReader, wanted: Wanted<AskRecord>): Promise<Page<Ask>> {
  return pageOf(wanted, { bytesOf: (record) => reader.bytes(record), whole: (record) => reader.whole(record) })
}

/** Audit records with the inputs of the asks they are about. */
export function auditPage(
  { directory, reader }: { directory: Pick<Directory, "getAsk">; reader: AskReader },
  wanted: Wanted<AuditRecord>,
): Promise<Page<AuditRecord>> {
  const askOf = async (record: AuditRecord) => {
    const id = askShownBy(record)
    return id === undefined ? undefined : directory.getAsk(id)
  }
  return pageOf(wanted, {
    async bytesOf(record) {
      const ask = await askOf(record)
      return ask === undefined ? PLAIN_BYTES : reader.bytes(ask)
    },
    async whole(record) {
      const ask = await askOf(record)
      return ask === undefined ? record : wholeAudit(record, await reader.whole(ask))
    },
  })
}

const PLAIN_BYTES = 1024

interface Joining<R, T> {
  readonly bytesOf: (record: R) => Promise<number>
  readonly whole: (record: R) => Promise<T>
}

async function pageOf<R, T>(wanted: Wanted<R>, { bytesOf, whole }: Joining<R, T>): Promise<Page<T>> {
  const { records, limit, maxBytes = MAX_PAGE_BYTES } = wanted
  let sum = 0
  let largestBytes = 0
  const taken: R[] = []
  for (const record of records.slice(0, limit)) {
    const bytes = await bytesOf(record)
    sum += bytes
    if (sum > maxBytes && taken.length > 0) break
    largestBytes = Math.max(largestBytes, bytes)
    taken.push(record)
  }
  return { entries: joined(taken, whole), largestBytes, more: records.length > taken.length }
}

async function* joined<R, T>(records: readonly R[], whole: (record: R) => Promise<T>): AsyncGenerator<T> {
  for (const record of records) yield await whole(record)
}

type Details = NewAuditRecord["details"]

const EXTENDED = "ask/extended"

/** The audit record of an ask that was given more time. */
export function auditOfExtension(
  ask: AskRecord,
  longer: AskRecord,
  { at, by }: { at: string; by: string },
): NewAuditRecord {
  const left = longer.extension?.left ?? 0
  const details = { before: ask.expiresAt ?? null, expiresAt: longer.expiresAt ?? null, left }
  return { at, what: EXTENDED, by, via: "person", ...about(ask, details) }
}

/** The audit record of an answer that the rules did not let stand. The ask stays open. */
export function auditOfRefusal(
  ask: AskRecord,
  { code, details }: HubError,
  how: Pick<NewAuditRecord, "at" | "by" | "via">,
): NewAuditRecord {
  return { ...how, what: "answer/refused", ...about(ask, { code, rule: details["rule"] ?? ask.rule ?? null }) }
}

/** The audit record of a settled ask: who or what settled it, how long it waited, the answer, and what the rules said. */
export function auditOf(settled: AskRecord, at: string): NewAuditRecord {
  const { state, settledBy: by = null, via = null, answer = null, rule = null, askedAt, settledAt = askedAt } = settled
  const waitedMs = Date.parse(settledAt) - Date.parse(askedAt)
  const { reason, why } = settled
  return {
    at,
    what: `ask/${state}`,
    by,
    via,
    ...about(settled, { answer, rule, ...defined({ reason, why }), waitedMs }),
  }
}

/** Which ask it is, and the hash of what it asked. */
function about(ask: AskRecord, more: Details): Pick<NewAuditRecord, "sessionId" | "askId" | "details"> {
  const { sessionId, id, kind, toolName = null, inputHash } = ask
  return { sessionId, askId: id, details: { kind, toolName, inputHash, ...more } }
}

/** The ask whose input a record shows and does not keep. */
function askShownBy({ what, askId, details }: AuditRecord): string | undefined {
  const isSettled = what.startsWith("ask/") && what !== EXTENDED && !("input" in details || "purged" in details)
  return isSettled ? (askId ?? undefined) : undefined
}

/** The record with the event that asked, the input that was asked for, and the one that was allowed. */
function wholeAudit(record: AuditRecord, { seq, input }: Pick<Ask, "seq" | "input">): AuditRecord {
  const { kind, toolName, inputHash, answer, ...rest } = record.details
  const told = isObject(answer) ? wholeAnswer(answer, input) : answer
  return { ...record, details: { kind, toolName, seq, inputHash, input: input ?? null, answer: told, ...rest } }
}
