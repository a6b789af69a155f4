import type { Ask, AskState } from "../../model/ask.ts"
import type { Database, SqlRow, SqlValue } from "../database.ts"
import { type AskFilter, MAX_LISTED, type SettledAsk } from "../directory.ts"

export class AskTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(ask: Ask): void {
    this.#database.run(
      "INSERT INTO asks (id, session, state, undelivered, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
      [ask.id, ask.sessionId, ask.state, isUndelivered(ask) ? 1 : 0, JSON.stringify(ask)],
    )
  }

  get(id: string): Ask | undefined {
    const row = this.#database.get("SELECT body FROM asks WHERE id = ?", [id])
    return row === undefined ? undefined : toAsk(row)
  }

  /** Undefined when there is no such ask. */
  settle(id: string, from: AskState, settled: Ask): SettledAsk | undefined {
    const kept = this.get(id)
    if (kept === undefined) return undefined
    if (kept.state !== from) return { changed: false, ask: kept }
    this.#update(id, settled)
    return { changed: true, ask: settled }
  }

  markDelivered(id: string, deliveredAt: string): void {
    const kept = this.get(id)
    if (kept !== undefined) this.#update(id, { ...kept, deliveredAt })
  }

  giveUp(id: string): void {
    this.#database.run("UPDATE asks SET undelivered = 0 WHERE id = ?", [id])
  }

  list(filter: AskFilter): readonly Ask[] {
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
    if (filter.undelivered === true) conditions.push("undelivered = 1")
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
    values.push(Math.min(filter.limit ?? MAX_LISTED, MAX_LISTED))
    const order = filter.newestFirst === true ? "number DESC" : "number"
    return this.#database.all(`SELECT body FROM asks ${where} ORDER BY ${order} LIMIT ?`, values).map(toAsk)
  }

  #update(id: string, ask: Ask): void {
    this.#database.run("UPDATE asks SET state = ?, undelivered = ?, body = ? WHERE id = ?", [
      ask.state,
      isUndelivered(ask) ? 1 : 0,
      JSON.stringify(ask),
      id,
    ])
  }
}

export function isUndelivered(ask: Ask): boolean {
  return ask.answer !== undefined && ask.deliveredAt === undefined
}

function toAsk([body]: SqlRow): Ask {
  const kept: Ask = JSON.parse(String(body))
  return kept
}
