import { textOf } from "../envelope.ts"
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

/** A character that moves a terminal's cursor or cannot be seen is written as JSON writes it: a terminal may show the file. */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu
const escaped = (character: string) =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")

/** The first line of an audit as CSV. */
export const AUDIT_CSV_HEAD = line(COLUMNS.map(([title]) => title))

export function auditCsvLine(record: AuditRecord): string {
  return line(COLUMNS.map(([, text]) => text(record) ?? ""))
}

/** RFC 4180. A cell that a spreadsheet would take for a formula begins with an apostrophe: an agent chose the words in it. */
function line(cells: readonly (string | number)[]): string {
  const quoted = cells.map((cell) => {
    const seen = String(cell).replace(UNSEEN, escaped)
    const text = typeof cell === "string" && /^[=+\-@]/.test(seen) ? `'${seen}` : seen
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  })
  return `${quoted.join(",")}\r\n`
}
