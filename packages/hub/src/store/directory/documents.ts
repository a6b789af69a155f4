import type { Database } from "../database.ts"

export class DocumentTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  get(name: string): unknown {
    const row = this.#database.get("SELECT value FROM documents WHERE name = ?", [name])
    return row === undefined ? undefined : JSON.parse(String(row[0]))
  }

  put(name: string, json: string): void {
    this.#database.run(
      "INSERT INTO documents (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [name, json],
    )
  }
}

export function documentJson(name: string, value: unknown): string {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) throw new Error(`The document "${name}" cannot be kept: ${typeof value} is no JSON.`)
  return json
}
