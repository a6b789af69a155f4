import { createHash } from "node:crypto"
import { isObject, textOf } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { Ask, AskKind } from "../model/ask.ts"

export interface Question {
  readonly sessionId: string
  readonly incarnation: string
  readonly requestId: string
  readonly request: Readonly<Record<string, unknown>>
  readonly seq: number
  readonly askedAt: string
  /** Its CLI can be told that a question was left unanswered. */
  readonly takesUnanswered?: boolean
}

/** The id follows from the question, so that the same one, brought again by a reconnect or a restart, is the same ask. */
export function askOfRequest(question: Question): Ask {
  const { request, incarnation, takesUnanswered, ...rest } = question
  const kind = kindOf(request)
  const input = isObject(request["input"]) ? request["input"] : undefined
  const toolName = textOf(request, "tool_name")
  const toolUseId = textOf(request, "tool_use_id")
  const suggestions = request["permission_suggestions"]
  return {
    id: askId(question),
    ...rest,
    kind,
    state: "pending",
    request,
    inputHash: hashOf(input ?? request),
    ...(toolName === undefined ? {} : { toolName }),
    ...(input === undefined ? {} : { input }),
    ...(Array.isArray(suggestions) ? { suggestions } : {}),
    ...(kind === "question" && takesUnanswered === true ? { skippable: true } : {}),
    incarnation,
    ...(toolUseId === undefined ? {} : { toolUseId }),
  }
}

export function askId({
  sessionId,
  incarnation,
  requestId,
}: Pick<Question, "sessionId" | "incarnation" | "requestId">): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([sessionId, incarnation, requestId]))
    .digest("base64url")
  return `ask_${digest.slice(0, 22)}`
}

function hashOf(value: unknown): string {
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

function kindOf(request: Readonly<Record<string, unknown>>): AskKind {
  if (request["subtype"] === "elicitation") return "elicitation"
  if (request["subtype"] === "request_user_dialog") return "dialog"
  if (request["tool_name"] === "AskUserQuestion") return "question"
  return request["tool_name"] === "ExitPlanMode" ? "plan" : "tool"
}
