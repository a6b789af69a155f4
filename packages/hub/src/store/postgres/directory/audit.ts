import { textOf } from "@signalbox/protocol"
import type { AuditRecord } from "@signalbox/protocol/hub-api"
import { purgedAudit } from "../../../model/purged.ts"
import { isBeingPurged } from "../../directory/purges.ts"
import { type AuditFilter, MAX_LISTED, type NewAuditRecord } from "../../directory.ts"
import { type Reader, type SqlRow, type SqlValue, type Statement, storedOrNull } from "../statement.ts"
import { toStored } from "../stored-text.js"

const FILTERS = ["session", "by", "rule", "tool", "what"] as const
const COLUMNS = "at, what, by, session, rule, tool, runner, body"
const COUNT = COLUMNS.split(", ").length

/** Inserts a record whose values are the parameters from this one on, for every row of what follows it. */
export function insertAudit(firstParameter: number): string {
  const values = Array.from({ length: COUNT }, (_, index) => `$${firstParameter + index}::text`)
  return `INSERT INTO audit (${COLUMNS}) SELECT ${values.join(", ")}`
}

export function auditValues(record: NewAuditRecord): readonly SqlValue[] {
  const { at, what, by, sessionId, details } = record
  const columns = [by, sessionId, textOf(details, "rule"), textOf(details, "toolName"), textOf(details, "runner")]
  return [toStored(at), toStored(what), ...columns.map(storedOrNull), JSON.stringify(record)]
}

const ADD = insertAudit(1)

export class AuditTable {
  readonly #reader: Reader

  constructor(reader: Reader) {
    this.#reader = reader
  }

  add(record: NewAuditRecord): Statement {
    return { text: ADD, values: auditValues(record) }
  }

  async list(filter: AuditFilter): Promise<readonly AuditRecord[]> {
    const { after, before, since, runner, limit } = filter
    const conditions: string[] = []
    const values: SqlValue[] = []
    const place = (value: SqlValue) => `$${values.push(value)}`
    conditions.push(`id > ${place(Math.max(0, after))}`)
    if (before !== undefined) conditions.push(`id < ${place(Math.min(before, Number.MAX_SAFE_INTEGER))}`)
    if (since !== undefined) conditions.push(`at >= ${place(toStored(since))}`)
    for (const name of FILTERS) {
      const wanted = filter[name]
      if (wanted === undefined) continue
      const of = (text: string) => (name === "by" ? `lower(${text} COLLATE "C")` : text)
      conditions.push(`${of(name)} = ${of(`${place(toStored(wanted))}::text`)}`)
    }
    if (runner !== undefined) {
      const wanted = place(toStored(runner))
      const ofSessions = `session IN (SELECT id FROM sessions WHERE runner = ${wanted})`
      const ofPurged = `session IN (SELECT session FROM purges WHERE runner = ${wanted})`
      conditions.push(`(runner = ${wanted} OR ${ofSessions} OR ${ofPurged})`)
    }
    const order = filter.newestFirst === true ? "id DESC" : "id"
    const most = place(Math.max(0, Math.min(limit, MAX_LISTED)))
    const sql = `SELECT id, body, ${isBeingPurged("audit")} FROM audit
      WHERE ${conditions.join(" AND ")} ORDER BY ${order} LIMIT ${most}`
    return (await this.#reader.all(sql, values)).map(toRecord)
  }
}

function toRecord([id, body, isPurged]: SqlRow): AuditRecord {
  const kept: NewAuditRecord = JSON.parse(String(body))
  return { ...(isPurged === true ? purgedAudit(kept) : kept), id: Number(id) }
}
