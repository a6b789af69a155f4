import type { AskState } from "@signalbox/protocol/hub-api"
import type { AskRecord } from "../../model/ask.ts"
import { purgedAsk } from "../../model/purged.ts"
import type { Database, SqlRow, SqlValue } from "../database.ts"
import { type AskFilter, MAX_LISTED, type SettledAsk } from "../directory.ts"
import { isBeingPurged } from "./purges.ts"

const COLUMNS = `body, delivered_at, ${isBeingPurged("asks")}`

export class AskTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(ask: AskRecord): void {
    this.#database.run(
      "INSERT INTO asks (id, session, state, undelivered, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
      [ask.id, ask.sessionId, ask.state, isUnheard(ask) ? 1 : 0, JSON.stringify(ask)],
    )
  }

  get(id: string): AskRecord | undefined {
    const row = this.#database.get(`SELECT ${COLUMNS} FROM asks WHERE id = ?`, [id])
    return row === undefined ? undefined : toAsk(row)
  }

  /** Undefined when there is no such ask. */
  settle(id: string, from: AskState, settled: AskRecord): SettledAsk | undefined {
    const changed = this.#database.run(
      "UPDATE asks SET state = ?, undelivered = ?, body = ? WHERE id = ? AND state = ?",
      [settled.state, isUnheard(settled) ? 1 : 0, JSON.stringify(settled), id, from],
    )
    if (changed > 0) return { changed: true, ask: settled }
    const kept = this.get(id)
    return kept === undefined ? undefined : { changed: false, ask: kept }
  }

  markDelivered(id: string, deliveredAt: string): void {
    this.#database.run("UPDATE asks SET delivered_at = ? WHERE id = ?", [deliveredAt, id])
  }

  endDelivery(id: string): void {
    this.#database.run("UPDATE asks SET undelivered = 0 WHERE id = ?", [id])
  }

  list(filter: AskFilter): readonly AskRecord[] {
    const conditions: string[] = []
    const values: SqlValue[] = []
    if (filter.session !== undefined) {
      conditions.push("session = ?")
      values.push(filter.session)
    }
    if (filter.state !== undefined) {
      conditions.push("state = ?")
      values.push(filter.state)
    }
    if (filter.unheard === true) conditions.push("undelivered = 1")
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
    values.push(Math.min(filter.limit ?? MAX_LISTED, MAX_LISTED))
    const order = filter.newestFirst === true ? "number DESC" : "number"
    // The numbers come from an index alone: the bodies of a session's asks are not loaded to be put in order.
    const numbers = `SELECT number FROM asks ${where} ORDER BY ${order} LIMIT ?`
    const sql = `SELECT ${COLUMNS} FROM asks WHERE number IN (${numbers}) ORDER BY ${order}`
    return this.#database.all(sql, values).map(toAsk)
  }
}

/** As it is when it is settled. The column has the name that it got when a line on the wire counted as heard. */
export function isUnheard(ask: AskRecord): boolean {
  return ask.answer !== undefined
}

function toAsk([body, deliveredAt, isPurged]: SqlRow): AskRecord {
  const kept: AskRecord = JSON.parse(String(body))
  const ask = deliveredAt === null ? kept : { ...kept, deliveredAt: String(deliveredAt) }
  return isPurged === 1 ? purgedAsk(ask) : ask
}
