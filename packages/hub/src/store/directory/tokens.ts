import type { TokenRecord } from "../../model/access.ts"
import type { Database, SqlRow } from "../database.ts"

export class TokenTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(token: TokenRecord): void {
    this.#database.run("INSERT INTO tokens (id, revoked, body) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", [
      token.id,
      token.revokedAt === null ? 0 : 1,
      JSON.stringify(token),
    ])
  }

  /** Whether this call did it. */
  revoke(id: string, revokedAt: string): boolean {
    const row = this.#database.get("SELECT body FROM tokens WHERE id = ? AND revoked = 0", [id])
    if (row === undefined) return false
    const body = JSON.stringify({ ...toToken(row), revokedAt })
    return this.#database.run("UPDATE tokens SET revoked = 1, body = ? WHERE id = ?", [body, id]) === 1
  }

  list(): readonly TokenRecord[] {
    return this.#database.all("SELECT body FROM tokens ORDER BY number", []).map(toToken)
  }
}

function toToken([body]: SqlRow): TokenRecord {
  const kept: TokenRecord = JSON.parse(String(body))
  return kept
}
