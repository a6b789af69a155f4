import type { AskAnswer, AskRecord } from "../model/ask.ts"

/** What the policy says of an ask. */
export interface AskVerdict {
  readonly effect: "allow" | "deny" | "ask"
  readonly rule?: string
  readonly reason: string
  readonly message?: string
  readonly expiresAfterMs?: number
  readonly maxExtensions?: number
}

/** Where the rule does not say how often. Without an end, what was to expire would not. */
const DEFAULT_EXTENSIONS = 3

export function withVerdict(ask: AskRecord, verdict: AskVerdict): AskRecord {
  const rule = verdict.rule === undefined ? {} : { rule: verdict.rule }
  return { ...ask, ...rule, ...expiryOf(ask, verdict) }
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
