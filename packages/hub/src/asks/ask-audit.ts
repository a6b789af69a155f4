import type { Ask } from "../model/ask.ts"
import type { NewAuditRecord } from "../model/audit.ts"

type Details = NewAuditRecord["details"]

/** What the audit keeps of an ask that was given more time. */
export function auditOfExtension(ask: Ask, longer: Ask, { at, by }: { at: string; by: string }): NewAuditRecord {
  const left = longer.extension?.left ?? 0
  const details = { before: ask.expiresAt ?? null, expiresAt: longer.expiresAt ?? null, left }
  return { at, what: "ask/extended", by, via: "person", ...about(ask, details) }
}

/** What the audit keeps of an ask that is settled: who or what did it, how long it waited, and what was asked. */
export function auditOf(ask: Ask, settled: Ask, at: string): NewAuditRecord {
  const { state, settledBy: by = null, via = null } = settled
  return {
    at,
    what: `ask/${state}`,
    by,
    via,
    ...about(ask, {
      input: ask.input ?? null,
      answer: settled.answer ?? null,
      rule: settled.rule ?? null,
      waitedMs: Date.parse(settled.settledAt ?? ask.askedAt) - Date.parse(ask.askedAt),
    }),
  }
}

/** Which ask it is, and what it asked. */
function about(ask: Ask, more: Details): Pick<NewAuditRecord, "sessionId" | "askId" | "details"> {
  const { sessionId, id, kind, toolName = null, inputHash } = ask
  return { sessionId, askId: id, details: { kind, toolName, inputHash, ...more } }
}
