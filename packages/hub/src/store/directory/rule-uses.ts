import type { Database } from "../database.ts"
import type { CountedUses, UsesFilter } from "../directory.ts"

export class RuleUseTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(session: string, { rules, day }: CountedUses): void {
    for (const rule of rules) {
      this.#database.run(
        "INSERT INTO rule_uses (session, rule, day, uses) VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET uses = uses + 1",
        [session, rule, day],
      )
    }
  }

  /** The uses of a purged session still count on their day. */
  leave(session: string): void {
    this.#database.run(
      `INSERT INTO rule_uses (session, rule, day, uses) SELECT '', rule, day, uses FROM rule_uses WHERE session = ?
       ON CONFLICT DO UPDATE SET uses = uses + excluded.uses`,
      [session],
    )
    this.#database.run("DELETE FROM rule_uses WHERE session = ?", [session])
  }

  sum(filter: UsesFilter): ReadonlyMap<string, number> {
    const rows =
      "day" in filter
        ? this.#database.all("SELECT rule, sum(uses) FROM rule_uses WHERE day = ? GROUP BY rule", [filter.day])
        : this.#database.all("SELECT rule, sum(uses) FROM rule_uses WHERE session = ? GROUP BY rule", [filter.session])
    return new Map(rows.map(([rule, uses]) => [String(rule), Number(uses)]))
  }
}
