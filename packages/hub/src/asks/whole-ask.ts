import { createHash } from "node:crypto"
import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { Ask, AskKind, AskRecord } from "../model/ask.ts"
import { wireObject } from "../model/event.ts"
import type { EventLog } from "../store/event-log.ts"

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

  constructor(log: Pick<EventLog, "read" | "sizes">) {
    this.#log = log
  }

  /** Undefined when its event is gone. */
  async request(record: AskRecord): Promise<Json | undefined> {
    if (record.request !== undefined) return record.request
    const [event] = await this.#log.read(record.sessionId, placeOf(record))
    return event === undefined ? undefined : fieldOf(wireObject(event.line), "request")
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

/** The record with what it leaves out: what was asked, and the input that an allow did not change. */
export function wholeAsk(record: AskRecord, request: Json): Ask {
  const input = inputIn(request)
  const suggestions = request["permission_suggestions"]
  const { answer, ...rest } = record
  return {
    ...rest,
    request,
    ...(input === undefined ? {} : { input }),
    ...(Array.isArray(suggestions) ? { suggestions } : {}),
    ...(answer === undefined ? {} : { answer: wholeAnswer(answer, input) }),
  }
}

/** An allow always says the input: without it 2.1.37 turns an allow into a denial. */
export function wholeAnswer(answer: Json, input: Json | undefined): Json {
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
