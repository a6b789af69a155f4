import { composeAllow, composeDeny, composeSuccess, type Envelope, isObject } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { Ask, AskAnswer, AskState, DialogAnswer, ElicitationAnswer, ToolAnswer } from "../model/ask.ts"

/** An answer that fits its ask: how the ask ends, and the line that tells the agent. */
export interface FittingAnswer {
  readonly state: AskState
  readonly wire: Envelope
  /** As it is told: what was really answered, with nothing left out. */
  readonly answer: Readonly<Record<string, unknown>>
}

/** Throws ask/invalid-answer when the answer is of another kind than the question. */
export function fitAnswer(ask: Ask, answer: AskAnswer): FittingAnswer {
  switch (ask.kind) {
    case "tool":
    case "question":
    case "plan":
      if ("behavior" in answer) return fitToolAnswer(ask, answer)
      throw misfit(ask, `{"behavior":"allow"} or {"behavior":"deny"}`)
    case "elicitation":
      if ("action" in answer) return fitElicitation(ask, answer)
      throw misfit(ask, `{"action":"accept","content":{…}}, {"action":"decline"} or {"action":"cancel"}`)
    case "dialog":
      if ("result" in answer || "cancelled" in answer) return fitDialog(ask, answer)
      throw misfit(ask, `{"result":…} or {"cancelled":true}`)
  }
}

function fitToolAnswer(ask: Ask, answer: ToolAnswer): FittingAnswer {
  const question = questionOf(ask)
  const wire =
    answer.behavior === "allow"
      ? composeAllow(question, answer)
      : composeDeny(
          question,
          answer.message ?? DENIED,
          answer.interrupt === undefined ? {} : { interrupt: answer.interrupt },
        )
  return { state: answer.behavior === "allow" ? "allowed" : "denied", wire, answer: payloadOf(wire) }
}

const DENIED = "Denied by the user."

function fitElicitation(ask: Ask, answer: ElicitationAnswer): FittingAnswer {
  const content = answer.content === undefined ? {} : { content: answer.content }
  const wire = composeSuccess(ask.requestId, { action: answer.action, ...content })
  return { state: answer.action === "accept" ? "allowed" : "denied", wire, answer: payloadOf(wire) }
}

function fitDialog(ask: Ask, answer: DialogAnswer): FittingAnswer {
  const done = "result" in answer
  const wire = composeSuccess(
    ask.requestId,
    done ? { behavior: "completed", result: answer.result } : { behavior: "cancelled" },
  )
  return { state: done ? "allowed" : "denied", wire, answer: payloadOf(wire) }
}

/** What a raw client wrote as `control_response`, as an answer of ours; undefined for an error, which never settles an ask. */
export function answerOfWire(ask: Ask, response: Readonly<Record<string, unknown>> | undefined): AskAnswer | undefined {
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

type Payload = Readonly<Record<string, unknown>>

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

function questionOf(ask: Ask) {
  const tool = ask.toolUseId === undefined ? {} : { tool_use_id: ask.toolUseId }
  return { request_id: ask.requestId, request: { input: ask.input ?? {}, ...tool } }
}

function payloadOf(wire: Envelope): Readonly<Record<string, unknown>> {
  const response = wire["response"]
  const payload = isObject(response) ? response["response"] : undefined
  return isObject(payload) ? payload : {}
}

function misfit(ask: Ask, right: string): HubError {
  return new HubError("ask/invalid-answer", `this ask is of kind "${ask.kind}": answer it with ${right}`)
}
