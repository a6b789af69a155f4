import type { Ask, AskAnswer } from "../model/ask.ts"

/** What the policy says of an ask. */
export interface AskVerdict {
  readonly effect: "allow" | "deny" | "ask"
  readonly rule?: string
  readonly reason: string
  readonly message?: string
  readonly expiresAfterMs?: number
}

export function withVerdict(ask: Ask, verdict: AskVerdict): Ask {
  const rule = verdict.rule === undefined ? {} : { rule: verdict.rule }
  const expires =
    verdict.effect === "ask" && verdict.expiresAfterMs !== undefined
      ? { expiresAt: new Date(Date.parse(ask.askedAt) + verdict.expiresAfterMs).toISOString() }
      : {}
  return { ...ask, ...rule, ...expires }
}

/** What the policy answers, in the form that fits the question; undefined when a person must. */
export function verdictAnswer(ask: Ask, verdict: AskVerdict): AskAnswer | undefined {
  if (verdict.effect === "ask") return undefined
  const isAllowed = verdict.effect === "allow"
  if (ask.kind === "elicitation") return { action: isAllowed ? "accept" : "decline" }
  // Nobody but a person knows what a dialog's result would be.
  if (ask.kind === "dialog") return isAllowed ? undefined : { cancelled: true }
  return isAllowed ? { behavior: "allow" } : { behavior: "deny", message: verdict.message ?? verdict.reason }
}

export function expiredAnswer(ask: Ask): AskAnswer {
  if (ask.kind === "elicitation") return { action: "cancel" }
  if (ask.kind === "dialog") return { cancelled: true }
  return { behavior: "deny", message: "Nobody answered this request in time. It was not refused by a person." }
}
