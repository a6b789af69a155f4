import { purgedCall } from "../../model/purged.ts"
import type { NumberedCall, SeenCall } from "../../model/seen-call.ts"
import type { Database, SqlRow } from "../database.ts"
import { MAX_LISTED, type SeenFilter } from "../directory.ts"
import { isBeingPurged } from "./purges.ts"

export class SeenCallTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add({ sessionId, toolUseId, seq, at, ...body }: SeenCall): void {
    this.#database.run(
      "INSERT INTO seen_calls (session, tool_use, seq, at, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body",
      [sessionId, toolUseId, seq, at, JSON.stringify(body)],
    )
  }

  get(sessionId: string, toolUseId: string): SeenCall | undefined {
    const row = this.#database.get(`SELECT ${COLUMNS} FROM seen_calls WHERE session = ? AND tool_use = ?`, [
      sessionId,
      toolUseId,
    ])
    return row === undefined ? undefined : toCall(row)
  }

  list({ session, since = "", after, limit }: SeenFilter): readonly NumberedCall[] {
    const most = Math.max(0, Math.min(limit, MAX_LISTED))
    const rows =
      session === undefined
        ? this.#database.all(`SELECT ${COLUMNS} FROM seen_calls WHERE number > ? AND at >= ? ORDER BY number LIMIT ?`, [
            after,
            since,
            most,
          ])
        : this.#database.all(
            `SELECT ${COLUMNS} FROM seen_calls WHERE session = ? AND number > ? AND at >= ? ORDER BY number LIMIT ?`,
            [session, after, since, most],
          )
    return rows.map(toCall)
  }
}

const COLUMNS = `number, session, tool_use, seq, at, body, ${isBeingPurged("seen_calls")}`

function toCall([number, session, toolUse, seq, at, body, isPurged]: SqlRow): NumberedCall {
  const kept: Pick<SeenCall, "tool" | "effect"> = JSON.parse(String(body))
  const place = { sessionId: String(session), toolUseId: String(toolUse), at: String(at) }
  const told = isPurged === 1 ? purgedCall(kept) : kept
  return { number: Number(number), ...place, ...told, seq: seq === null ? null : Number(seq) }
}
