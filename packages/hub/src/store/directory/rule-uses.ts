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

  sum(filter: UsesFilter): ReadonlyMap<string, number> {
    const rows =
      "day" in filter
        ? this.#database.all("SELECT rule, sum(uses) FROM rule_uses WHERE day = ? GROUP BY rule", [filter.day])
        : this.#database.all("SELECT rule, sum(uses) FROM rule_uses WHERE session = ? GROUP BY rule", [filter.session])
    return new Map(rows.map(([rule, uses]) => [String(rule), Number(uses)]))
  }
}
