import type { Database, SqlRow } from "../database.ts"
import { type KeptPolicy, MAX_LISTED, type NewPolicy, type PolicyFilter, type PolicyRow } from "../directory.ts"

export const NO_CHANGES: NewPolicy["changes"] = { added: [], removed: [], changed: [], settings: [] }

export class PolicyTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** The number that it gets. */
  add(about: NewPolicy, policy: string): number {
    this.#database.run("INSERT INTO policies (about, policy) VALUES (?, ?)", [JSON.stringify(about), policy])
    return Number(this.#database.get("SELECT last_insert_rowid()", [])?.[0])
  }

  get(version: number | undefined): KeptPolicy | undefined {
    const row =
      version === undefined
        ? this.#database.get("SELECT version, about, policy FROM policies ORDER BY version DESC LIMIT 1", [])
        : this.#database.get("SELECT version, about, policy FROM policies WHERE version = ?", [version])
    return row === undefined ? undefined : { ...toRow(row), policy: JSON.parse(String(row[2])) }
  }

  list({ before = Number.MAX_SAFE_INTEGER, limit }: PolicyFilter): readonly PolicyRow[] {
    const sql = "SELECT version, about FROM policies WHERE version < ? ORDER BY version DESC LIMIT ?"
    return this.#database.all(sql, [before, Math.min(limit, MAX_LISTED)]).map(toRow)
  }
}

/** Versions of older hubs do not say what they changed. */
function toRow([version, about]: SqlRow): PolicyRow {
  const kept: NewPolicy = { changes: NO_CHANGES, ...JSON.parse(String(about)) }
  return { version: Number(version), ...kept }
}
