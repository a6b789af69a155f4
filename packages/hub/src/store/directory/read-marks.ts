import type { Database } from "../database.ts"

export class ReadMarkTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Forward only: of two browsers of one person the one that read further counts. */
  mark(person: string, session: string, seq: number): void {
    this.#database.run(
      `INSERT INTO read_marks (session, person, seq) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET seq = excluded.seq WHERE excluded.seq > seq`,
      [session, person, seq],
    )
  }

  of(person: string, sessions: readonly string[]): ReadonlyMap<string, number> {
    const sql = "SELECT seq FROM read_marks WHERE session = ? AND person = ?"
    return new Map(
      sessions.flatMap((session) => {
        const row = this.#database.get(sql, [session, person])
        return row === undefined ? [] : [[session, Number(row[0])] as const]
      }),
    )
  }
}
