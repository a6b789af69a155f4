import { isObject } from "@signalbox/protocol"
import type { Ask, AskRecord } from "../model/ask.ts"
import type { AuditRecord, NewAuditRecord } from "../model/audit.ts"
import { wholeAnswer } from "./whole-ask.ts"

type Details = NewAuditRecord["details"]

const EXTENDED = "ask/extended"

/** What the audit keeps of an ask that was given more time. */
export function auditOfExtension(
  ask: AskRecord,
  longer: AskRecord,
  { at, by }: { at: string; by: string },
): NewAuditRecord {
  const left = longer.extension?.left ?? 0
  const details = { before: ask.expiresAt ?? null, expiresAt: longer.expiresAt ?? null, left }
  return { at, what: EXTENDED, by, via: "person", ...about(ask, details) }
}

/** What the audit keeps of an ask that is settled: who or what did it, how long it waited, and what was answered. */
export function auditOf(settled: AskRecord, at: string): NewAuditRecord {
  const { state, settledBy: by = null, via = null, answer = null, rule = null, askedAt, settledAt = askedAt } = settled
  const waitedMs = Date.parse(settledAt) - Date.parse(askedAt)
  return { at, what: `ask/${state}`, by, via, ...about(settled, { answer, rule, waitedMs }) }
}

/** Which ask it is, and the hash of what it asked. */
function about(ask: AskRecord, more: Details): Pick<NewAuditRecord, "sessionId" | "askId" | "details"> {
  const { sessionId, id, kind, toolName = null, inputHash } = ask
  return { sessionId, askId: id, details: { kind, toolName, inputHash, ...more } }
}

/** The ask whose input a record shows and does not keep. */
export function askShownBy({ what, askId, details }: AuditRecord): string | undefined {
  const isSettled = what.startsWith("ask/") && what !== EXTENDED && !("input" in details)
  return isSettled ? (askId ?? undefined) : undefined
}

/** The record with the input that was asked for, and with the one that was allowed. */
export function wholeAudit(record: AuditRecord, { input }: Pick<Ask, "input">): AuditRecord {
  const { kind, toolName, inputHash, answer, ...rest } = record.details
  const told = isObject(answer) ? wholeAnswer(answer, input) : answer
  return { ...record, details: { kind, toolName, inputHash, input: input ?? null, answer: told, ...rest } }
}
