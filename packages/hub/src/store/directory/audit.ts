import type { AuditRecord } from "@signalbox/protocol/hub-api"
import type { Database, SqlRow } from "../database.ts"
import type { NewAuditRecord } from "../directory.ts"
import { MAX_LISTED } from "../directory.ts"

export interface AuditFilter {
  readonly session?: string
  readonly after: number
  readonly limit: number
}

export class AuditTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(record: NewAuditRecord): void {
    this.#database.run("INSERT INTO audit (session, body) VALUES (?, ?)", [record.sessionId, JSON.stringify(record)])
  }

  list({ session, after, limit }: AuditFilter): readonly AuditRecord[] {
    const most = Math.max(0, Math.min(limit, MAX_LISTED))
    const rows =
      session === undefined
        ? this.#database.all("SELECT id, body FROM audit WHERE id > ? ORDER BY id LIMIT ?", [after, most])
        : this.#database.all("SELECT id, body FROM audit WHERE session = ? AND id > ? ORDER BY id LIMIT ?", [
            session,
            after,
            most,
          ])
    return rows.map(toRecord)
  }
}

function toRecord([id, body]: SqlRow): AuditRecord {
  const kept: NewAuditRecord = JSON.parse(String(body))
  return { ...kept, id: Number(id) }
}
