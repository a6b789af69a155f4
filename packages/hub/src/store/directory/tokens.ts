import type { TokenRecord } from "../../model/access.ts"
import type { Database, SqlRow } from "../database.ts"

export class TokenTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(token: TokenRecord): void {
    const { id, hash, sessionId, role, revokedAt } = token
    // One moment can be written in several ways, and times are compared as text.
    const expiresAt = token.expiresAt === null ? null : new Date(token.expiresAt).toISOString()
    this.#database.run(
      `INSERT INTO tokens (id, hash, session, role, expires_at, revoked, body) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO NOTHING`,
      [id, hash, sessionId, role, expiresAt, revokedAt === null ? 0 : 1, JSON.stringify(token)],
    )
  }

  /** Whether this call did it. */
  revoke(id: string, revokedAt: string): boolean {
    const row = this.#database.get("SELECT body FROM tokens WHERE id = ? AND revoked = 0", [id])
    if (row === undefined) return false
    const body = JSON.stringify({ ...toToken(row), revokedAt })
    return this.#database.run("UPDATE tokens SET revoked = 1, body = ? WHERE id = ?", [body, id]) === 1
  }

  get(id: string): TokenRecord | undefined {
    const row = this.#database.get("SELECT body FROM tokens WHERE id = ?", [id])
    return row && toToken(row)
  }

  find(hash: string): TokenRecord | undefined {
    const row = this.#database.get("SELECT body FROM tokens WHERE hash = ?", [hash])
    return row && toToken(row)
  }

  list({ session, limit }: { session?: string; limit: number }): readonly TokenRecord[] {
    const rows =
      session === undefined
        ? this.#database.all("SELECT body FROM tokens ORDER BY number DESC LIMIT ?", [limit])
        : this.#database.all("SELECT body FROM tokens WHERE session = ? ORDER BY number DESC LIMIT ?", [session, limit])
    return rows.map(toToken).toReversed()
  }

  usable(at: string, agents: readonly string[]): readonly TokenRecord[] {
    const isUsable = "revoked = 0 AND (expires_at IS NULL OR expires_at > ?)"
    const sql = `SELECT body, number FROM tokens WHERE ${isUsable} AND role <> 'agent'
      UNION ALL SELECT body, number FROM tokens WHERE ${isUsable} AND role = 'agent' AND id IN (SELECT value FROM json_each(?))
      ORDER BY number`
    return this.#database.all(sql, [at, at, JSON.stringify(agents)]).map(toToken)
  }
}

function toToken([body]: SqlRow): TokenRecord {
  const kept: TokenRecord = JSON.parse(String(body))
  return kept
}
