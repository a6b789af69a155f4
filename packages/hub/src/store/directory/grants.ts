import type { Grant } from "@signalbox/protocol/hub-api"
import type { Database, SqlRow, SqlValue } from "../database.ts"
import { MAX_LISTED } from "../directory.ts"

export interface GrantFilter {
  readonly id?: string
  readonly session?: string
  /** Those that were revoked too. */
  readonly all?: boolean
}

export class GrantTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(grant: Grant): void {
    this.#database.run(
      "INSERT INTO grants (id, session, revoked, body) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
      [grant.id, grant.sessionId, grant.revokedAt === null ? 0 : 1, JSON.stringify(grant)],
    )
  }

  /** As it is afterwards; one that was revoked before keeps who did it first. */
  revoke(id: string, revokedAt: string, revokedBy: string): Grant | undefined {
    const row = this.#database.get("SELECT body FROM grants WHERE id = ?", [id])
    if (row === undefined) return undefined
    const grant = toGrant(row)
    if (grant.revokedAt !== null) return grant
    const revoked = { ...grant, revokedAt, revokedBy }
    this.#database.run("UPDATE grants SET revoked = 1, body = ? WHERE id = ?", [JSON.stringify(revoked), id])
    return revoked
  }

  list(filter: GrantFilter): readonly Grant[] {
    const conditions: string[] = []
    const values: SqlValue[] = []
    for (const name of ["id", "session"] as const) {
      const wanted = filter[name]
      if (wanted === undefined) continue
      conditions.push(`${name} = ?`)
      values.push(wanted)
    }
    if (filter.all !== true) conditions.push("revoked = 0")
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
    return this.#database
      .all(`SELECT body FROM grants ${where} ORDER BY number LIMIT ?`, [...values, MAX_LISTED])
      .map(toGrant)
  }
}

function toGrant([body]: SqlRow): Grant {
  const kept: Grant = JSON.parse(String(body))
  return kept
}
