import type { Ask } from "../model/ask.ts"
import type { NewAuditRecord } from "../model/audit.ts"

/** What the audit keeps of an ask that was given more time. */
export function auditOfExtension(ask: Ask, longer: Ask, { at, by }: { at: string; by: string }): NewAuditRecord {
  return {
    at,
    what: "ask/extended",
    by,
    via: "person",
    sessionId: ask.sessionId,
    askId: ask.id,
    details: {
      kind: ask.kind,
      toolName: ask.toolName ?? null,
      inputHash: ask.inputHash,
      before: ask.expiresAt ?? null,
      expiresAt: longer.expiresAt ?? null,
      left: longer.extension?.left ?? 0,
    },
  }
}

/** What the audit keeps of an ask that is settled: who or what did it, how long it waited, and what was asked. */
export function auditOf(ask: Ask, settled: Ask, at: string): NewAuditRecord {
  return {
    at,
    what: `ask/${settled.state}`,
    by: settled.settledBy ?? null,
    via: settled.via ?? null,
    sessionId: ask.sessionId,
    askId: ask.id,
    details: {
      kind: ask.kind,
      toolName: ask.toolName ?? null,
      inputHash: ask.inputHash,
      input: ask.input ?? null,
      answer: settled.answer ?? null,
      rule: settled.rule ?? null,
      waitedMs: Date.parse(settled.settledAt ?? ask.askedAt) - Date.parse(ask.askedAt),
    },
  }
}
