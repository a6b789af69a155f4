import type { DeliveryState, OutgoingMessage } from "../../model/session-record.ts"
import type { Database, SqlRow } from "../database.ts"
import { MAX_LISTED } from "../directory.ts"
import { fromStoredText, toStoredText } from "../stored-text.ts"

export const STATES: readonly DeliveryState[] = ["waiting", "sent", "confirmed", "unknown", "cancelled"]
const COLUMNS = "uuid, session, seq, state, incarnation, line, by, at"

export interface MessageChange {
  readonly state: DeliveryState
  readonly incarnation: string | null
}

export class MessageTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  add(message: OutgoingMessage): void {
    const { uuid, sessionId, seq, state, incarnation, line, by, at } = message
    this.#database.run(
      `INSERT INTO messages (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (session, uuid) DO UPDATE SET state = excluded.state WHERE messages.state = 'cancelled'`,
      [uuid, sessionId, seq, state, incarnation, toStoredText(line), by, at],
    )
  }

  change(sessionId: string, uuid: string, { state, incarnation }: MessageChange): void {
    this.#database.run("UPDATE messages SET state = ?, incarnation = ? WHERE session = ? AND uuid = ?", [
      state,
      incarnation,
      sessionId,
      uuid,
    ])
  }

  get(sessionId: string, uuid: string): OutgoingMessage | undefined {
    const row = this.#database.get(`SELECT ${COLUMNS} FROM messages WHERE session = ? AND uuid = ?`, [sessionId, uuid])
    return row === undefined ? undefined : toMessage(row)
  }

  listOpen(sessionId: string): readonly OutgoingMessage[] {
    return this.#database
      .all(
        `SELECT ${COLUMNS} FROM messages WHERE session = ? AND state IN ('waiting', 'sent') ORDER BY seq, number LIMIT ?`,
        [sessionId, MAX_LISTED],
      )
      .map(toMessage)
  }
}

function toMessage([uuid, session, seq, state, incarnation, line, by, at]: SqlRow): OutgoingMessage {
  return {
    uuid: String(uuid),
    sessionId: String(session),
    seq: Number(seq),
    state: STATES.find((known) => known === state) ?? "unknown",
    incarnation: incarnation === null ? null : String(incarnation),
    line: fromStoredText(line),
    by: String(by),
    at: String(at),
  }
}
