import type { DeliveryState, OutgoingMessage } from "../../../model/session-record.ts"
import { STATES } from "../../directory/messages.ts"
import { MAX_LISTED } from "../../directory.ts"
import { type Reader, type SqlRow, type Statement, storedOrNull } from "../statement.ts"
import { fromStored, toStored } from "../stored-text.js"

const COLUMNS = "uuid, session, seq, state, incarnation, line, by, at"
const IS_THE_MESSAGE = "session = $1 AND md5(uuid) = md5($2::text) AND uuid = $2"
const ADD = `
  INSERT INTO messages (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (session, md5(uuid)) DO UPDATE SET state = excluded.state WHERE messages.state = 'cancelled'`
const CHANGE = `UPDATE messages SET state = $3, incarnation = $4 WHERE ${IS_THE_MESSAGE}`
const OPEN = `
  SELECT ${COLUMNS} FROM messages WHERE session = $1 AND state IN ('waiting', 'sent')
  ORDER BY seq, number LIMIT ${MAX_LISTED}`
const MARK_READ = `
  INSERT INTO read_marks (session, person, seq) VALUES ($1, $2, $3)
  ON CONFLICT (session, md5(person)) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > read_marks.seq`
const READ_MARKS = `
  SELECT session, seq FROM read_marks
  WHERE session = ANY ($1::text[]) AND md5(person) = md5($2::text) AND person = $2`

/** Messages to agents, and how far people have read. */
export class MessageTable {
  readonly #reader: Reader

  constructor(reader: Reader) {
    this.#reader = reader
  }

  add({ uuid, sessionId, seq, state, incarnation, line, by, at }: OutgoingMessage): Statement {
    const place = [toStored(uuid), toStored(sessionId), seq, state, storedOrNull(incarnation)]
    return { text: ADD, values: [...place, toStored(line), toStored(by), toStored(at)] }
  }

  change(sessionId: string, uuid: string, state: DeliveryState, incarnation: string | null): Statement {
    return { text: CHANGE, values: [toStored(sessionId), toStored(uuid), state, storedOrNull(incarnation)] }
  }

  async get(sessionId: string, uuid: string): Promise<OutgoingMessage | undefined> {
    const sql = `SELECT ${COLUMNS} FROM messages WHERE ${IS_THE_MESSAGE}`
    const row = await this.#reader.get(sql, [toStored(sessionId), toStored(uuid)])
    return row && toMessage(row)
  }

  async listOpen(sessionId: string): Promise<readonly OutgoingMessage[]> {
    return (await this.#reader.all(OPEN, [toStored(sessionId)])).map(toMessage)
  }

  /** Forward only: the browser that read further counts. */
  markRead(person: string, session: string, seq: number): Statement {
    return { text: MARK_READ, values: [toStored(session), toStored(person), seq] }
  }

  async readMarks(person: string, sessions: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#reader.all(READ_MARKS, [sessions.map(toStored), toStored(person)])
    return new Map(rows.map(([session, seq]) => [fromStored(String(session)), Number(seq)]))
  }
}

function toMessage([uuid, session, seq, state, incarnation, line, by, at]: SqlRow): OutgoingMessage {
  return {
    uuid: fromStored(String(uuid)),
    sessionId: fromStored(String(session)),
    seq: Number(seq),
    state: STATES.find((known) => known === state) ?? "unknown",
    incarnation: incarnation === null ? null : fromStored(String(incarnation)),
    line: fromStored(String(line)),
    by: fromStored(String(by)),
    at: fromStored(String(at)),
  }
}
