import { isQuestion } from "@signalbox/protocol/agent-state"
import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { given } from "./entry.ts"
import type { AskFacts, AskOutcome, JsonObject, TranscriptEvent } from "./row.ts"

/** What a hub tells of an ask beside the log: some endings have no event of their own. */
export interface AskRecord {
  readonly requestId: string
  readonly state: string
  readonly settledAt?: string
  readonly settledBy?: string
  readonly rule?: string
  readonly answer?: JsonObject
}

/** All that is known of one question, whichever part came first. */
export interface Question {
  readonly requestId: string
  asked?: TranscriptEvent
  answered?: TranscriptEvent
  record?: AskRecord
}

const OUTCOMES: ReadonlySet<string> = new Set<AskOutcome>([
  "pending",
  "allowed",
  "denied",
  "expired",
  "cancelled",
  "superseded",
  "orphaned",
])

/** `isOver`: what was asked for has happened or not, so somebody must have decided. */
export function askFacts(question: Question, isOver: boolean): AskFacts {
  const { asked, answered, record } = question
  const request = fieldOf(asked?.message, "request") ?? {}
  const answer = record?.answer ?? answerIn(answered)
  const settledAt = record?.settledAt ?? answered?.at
  return {
    requestId: question.requestId,
    outcome: outcomeOf(question, answer, isOver),
    request,
    askedAt: asked?.at ?? "",
    isEdited: isEdited(request, answer),
    ...given({ seq: asked?.seq, settledAt, by: record?.settledBy ?? answered?.by, rule: record?.rule, answer }),
  }
}

function outcomeOf({ record }: Question, answer: JsonObject | undefined, isOver: boolean): AskOutcome {
  if (record !== undefined && record.state !== "pending" && isOutcome(record.state)) return record.state
  const told = answer === undefined ? undefined : verdictOf(answer)
  return told ?? (isOver ? "settled" : "pending")
}

function isOutcome(state: string): state is AskOutcome {
  return OUTCOMES.has(state)
}

function verdictOf(answer: JsonObject): AskOutcome {
  const verdict = answer["behavior"] ?? answer["action"]
  if (verdict === "allow" || verdict === "accept" || verdict === "completed" || "result" in answer) return "allowed"
  return verdict === "deny" || verdict === "decline" ? "denied" : "cancelled"
}

function answerIn(event: TranscriptEvent | undefined): JsonObject | undefined {
  return fieldOf(fieldOf(event?.message, "response"), "response")
}

function isEdited(request: JsonObject, answer: JsonObject | undefined): boolean {
  const updated = answer?.["updatedInput"]
  const input = request["input"]
  if (!isObject(updated) || !isObject(input) || request["tool_name"] === "AskUserQuestion") return false
  return JSON.stringify(updated) !== JSON.stringify(input)
}

/** The id of the question that an event asks. */
export function questionId(event: TranscriptEvent): string | undefined {
  const { message } = event
  if (event.from !== "agent" || message.type !== "control_request") return undefined
  return isQuestion(fieldOf(message, "request")?.["subtype"]) ? textOf(message, "request_id") : undefined
}
