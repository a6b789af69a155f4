import { isObject } from "@signalbox/protocol"
import type { AskState, DialogAnswer, ElicitationAnswer, ToolAnswer } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { AskAnswer, AskRecord } from "../model/ask.ts"
import { hashOf } from "./whole-ask.ts"

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

/** What a raw client wrote as `control_response`, as an answer of ours; undefined for an error, which never settles an ask. */
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

/** What the policy says of an ask. */
export interface AskVerdict {
  readonly effect: "allow" | "deny" | "ask"
  readonly rule?: string
  readonly reason: string
  readonly message?: string
  readonly expiresAfterMs?: number
  readonly maxExtensions?: number
}

/** What the policy answers, in the form that fits the question; undefined when a person must. */
export function verdictAnswer(ask: AskRecord, verdict: AskVerdict): AskAnswer | undefined {
  if (verdict.effect === "ask") return undefined
  const isAllowed = verdict.effect === "allow"
  if (ask.kind === "elicitation") return { action: isAllowed ? "accept" : "decline" }
  // Nobody but a person knows what a dialog's result would be.
  if (ask.kind === "dialog") return isAllowed ? undefined : { cancelled: true }
  return isAllowed ? { behavior: "allow" } : { behavior: "deny", message: verdict.message ?? verdict.reason }
}

export function expiredAnswer(ask: AskRecord): AskAnswer {
  if (ask.kind === "elicitation") return { action: "cancel" }
  if (ask.kind === "dialog") return { cancelled: true }
  return { behavior: "deny", message: "Nobody answered this request in time. It was not refused by a person." }
}

function misfit(ask: AskRecord, right: string): HubError {
  return new HubError("ask/invalid-answer", `this ask is of kind "${ask.kind}": answer it with ${right}`)
}
