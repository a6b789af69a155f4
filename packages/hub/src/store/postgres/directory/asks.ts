import type { AskState } from "@signalbox/protocol/hub-api"
import type { AskRecord } from "../../../model/ask.ts"
import { purgedAsk } from "../../../model/purged.ts"
import { isUnheard } from "../../directory/asks.ts"
import { isBeingPurged } from "../../directory/purges.ts"
import { type AskFilter, MAX_LISTED, type SettledAsk, type SettleOptions, type UsesFilter } from "../../directory.ts"
import type { Reader, SqlRow, SqlValue, Statement } from "../statement.ts"
import { fromStored, toStored } from "../stored-text.js"
import { auditValues, insertAudit } from "./audit.ts"

const COLUMNS = `body, delivered_at, ${isBeingPurged("asks")}`

const IS_OWN =
  "($2::uuid IS NULL OR EXISTS (SELECT FROM logs WHERE logs.name = asks.session AND logs.owner = $2::uuid))"
const ADD = `
  INSERT INTO asks (id, session, state, undelivered, tool_use, body) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (id) DO NOTHING`

/** The audit record and the uses are written with the change and only with it. The ask is given as it was before. */
function settle(hasAudit: boolean): string {
  return `
    WITH won AS (
      UPDATE asks SET state = $3, undelivered = $4, body = $5 WHERE id = $1 AND state = $2 RETURNING session
    ), used AS (
      INSERT INTO rule_uses (session, rule, day, uses)
      SELECT won.session, rule, $6::text, count(*) FROM won, unnest($7::text[]) AS rule GROUP BY won.session, rule
      ON CONFLICT (session, md5(rule), day) DO UPDATE SET uses = rule_uses.uses + excluded.uses
    )${hasAudit ? `, audited AS (${insertAudit(8)} FROM won)` : ""}
    SELECT ${COLUMNS}, EXISTS (SELECT FROM won) FROM asks WHERE id = $1`
}

const SETTLE = { plain: settle(false), audited: settle(true) }

export class AskTable {
  readonly #reader: Reader

  constructor(reader: Reader) {
    this.#reader = reader
  }

  add(ask: AskRecord): Statement {
    const toolUse = ask.toolUseId === undefined ? null : toStored(ask.toolUseId)
    const about = [toStored(ask.id), toStored(ask.sessionId), ask.state, isUnheard(ask)]
    return { text: ADD, values: [...about, toolUse, JSON.stringify(ask)] }
  }

  settle(id: string, from: AskState, settled: AskRecord, { audit, uses }: SettleOptions): Statement {
    const { rules = [], day = "" } = uses ?? {}
    const change = [toStored(id), from, settled.state, isUnheard(settled), JSON.stringify(settled)]
    const values = [...change, day, rules.map(toStored)]
    if (audit === undefined) return { text: SETTLE.plain, values }
    return { text: SETTLE.audited, values: [...values, ...auditValues(audit)] }
  }

  /** `hub`: of several, only the one that has the ask's session. */
  markDelivered(id: string, deliveredAt: string, hub: string | null): Statement {
    return {
      text: `UPDATE asks SET delivered_at = $3 WHERE id = $1 AND ${IS_OWN}`,
      values: [toStored(id), hub, toStored(deliveredAt)],
    }
  }

  endDelivery(id: string, hub: string | null): Statement {
    return { text: `UPDATE asks SET undelivered = false WHERE id = $1 AND ${IS_OWN}`, values: [toStored(id), hub] }
  }

  async get(id: string): Promise<AskRecord | undefined> {
    const row = await this.#reader.get(`SELECT ${COLUMNS} FROM asks WHERE id = $1`, [toStored(id)])
    return row && toAsk(row)
  }

  async list(filter: AskFilter): Promise<readonly AskRecord[]> {
    const conditions: string[] = []
    const values: SqlValue[] = []
    const place = (value: SqlValue) => `$${values.push(value)}`
    if (filter.session !== undefined) conditions.push(`session = ${place(toStored(filter.session))}`)
    if (filter.state !== undefined) conditions.push(`state = ${place(filter.state)}`)
    if (filter.unheard === true) conditions.push("undelivered")
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
    const order = filter.newestFirst === true ? "number DESC" : "number"
    const most = place(Math.max(0, Math.min(filter.limit ?? MAX_LISTED, MAX_LISTED)))
    const rows = await this.#reader.all(`SELECT ${COLUMNS} FROM asks ${where} ORDER BY ${order} LIMIT ${most}`, values)
    return rows.map(toAsk)
  }

  async uses(filter: UsesFilter): Promise<ReadonlyMap<string, number>> {
    const [is, value] =
      "day" in filter ? (["day = $1", filter.day] as const) : (["session = $1", filter.session] as const)
    const rows = await this.#reader.all(`SELECT rule, sum(uses) FROM rule_uses WHERE ${is} GROUP BY rule`, [
      toStored(value),
    ])
    return new Map(rows.map(([rule, uses]) => [fromStored(String(rule)), Number(uses)]))
  }
}

/** Reads the row of the statement that settles: the ask as it was, and whether it was changed. Undefined: there is no such ask. */
export function settledBy(row: SqlRow | undefined, settled: AskRecord): SettledAsk | undefined {
  if (row === undefined) return undefined
  return row[3] === true ? { changed: true, ask: settled } : { changed: false, ask: toAsk(row) }
}

function toAsk([body, deliveredAt, isPurged]: SqlRow): AskRecord {
  const kept: AskRecord = JSON.parse(String(body))
  const ask = deliveredAt === null ? kept : { ...kept, deliveredAt: fromStored(String(deliveredAt)) }
  return isPurged === true ? purgedAsk(ask) : ask
}
