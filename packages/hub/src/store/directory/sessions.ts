import type { KeptSession } from "../../model/session-record.ts"
import type { Database, SqlRow } from "../database.ts"

export class SessionTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  load(): readonly KeptSession[] {
    return this.#database.all("SELECT record, own FROM sessions ORDER BY number", []).map(toSession)
  }

  save({ record, own }: KeptSession): void {
    this.#database.run(
      `INSERT INTO sessions (id, title, updated_at, record, own) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET
         title = excluded.title, updated_at = excluded.updated_at, record = excluded.record, own = excluded.own`,
      [record.id, record.title, record.updatedAt, JSON.stringify(record), JSON.stringify(own)],
    )
  }
}

function toSession([record, own]: SqlRow): KeptSession {
  const kept: KeptSession = { record: JSON.parse(String(record)), own: JSON.parse(String(own)) }
  return kept
}
