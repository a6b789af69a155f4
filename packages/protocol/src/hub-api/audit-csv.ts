import { textOf } from "../envelope.ts"
import { replaceUnseen } from "../unseen.ts"
import type { AuditRecord } from "./policy.ts"

const COLUMNS: readonly (readonly [
  title: string,
  text: (record: AuditRecord) => string | number | null | undefined,
])[] = [
  ["id", ({ id }) => id],
  ["at", ({ at }) => at],
  ["what", ({ what }) => what],
  ["by", ({ by }) => by],
  ["via", ({ via }) => via],
  ["rule", ({ details }) => textOf(details, "rule")],
  ["tool", ({ details }) => textOf(details, "toolName")],
  ["session", ({ sessionId }) => sessionId],
  ["ask", ({ askId }) => askId],
  ["details", ({ details }) => JSON.stringify(details)],
]

/** The first line of an audit as CSV. */
export const AUDIT_CSV_HEAD = line(COLUMNS.map(([title]) => title))

export function auditCsvLine(record: AuditRecord): string {
  return line(COLUMNS.map(([, text]) => text(record) ?? ""))
}

/**
 * RFC 4180. An agent chose the words in a cell: one that a spreadsheet would take for a formula begins with an apostrophe, and
 * characters that cannot be seen, or that move a terminal's cursor, are written as JSON writes them.
 */
function line(cells: readonly (string | number)[]): string {
  const quoted = cells.map((cell) => {
    const seen = replaceUnseen(String(cell), "decision", inJson)
    const text = typeof cell === "string" && /^[=+\-@\t]/.test(seen) ? `'${seen}` : seen
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${quoted.join(",")}\r\n`
}

function inJson(character: string): string {
  return character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}
