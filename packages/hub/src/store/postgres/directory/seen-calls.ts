import { purgedCall } from "../../../model/purged.ts"
import type { NumberedCall, SeenCall } from "../../../model/seen-call.ts"
import { isBeingPurged } from "../../directory/purges.ts"
import { MAX_LISTED, type NewAuditRecord, type SeenFilter } from "../../directory.ts"
import type { Reader, SqlRow, SqlValue, Statement } from "../statement.ts"
import { fromStored, toStored } from "../stored-text.js"
import { auditValues, insertAudit } from "./audit.ts"

const IS_THE_CALL = "session = $1 AND md5(tool_use) = md5($2::text) AND tool_use = $2"
const ADD = `
  INSERT INTO seen_calls (session, tool_use, seq, at, effect, body) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (session, md5(tool_use)) DO UPDATE SET effect = excluded.effect, body = excluded.body`
/** The record is added unless the call had this verdict already. */
const ADD_WITH_AUDIT = `
  WITH before AS (SELECT effect FROM seen_calls WHERE ${IS_THE_CALL}), kept AS (${ADD})
  ${insertAudit(7)} WHERE NOT EXISTS (SELECT FROM before WHERE effect = $5)`
const COLUMNS = `number, session, tool_use, seq, at, body, ${isBeingPurged("seen_calls")}`

export class SeenCallTable {
  readonly #reader: Reader

  constructor(reader: Reader) {
    this.#reader = reader
  }

  add({ sessionId, toolUseId, seq, at, ...body }: SeenCall, audit: NewAuditRecord | undefined): Statement {
    const values = [toStored(sessionId), toStored(toolUseId), seq, toStored(at), body.effect, JSON.stringify(body)]
    if (audit === undefined) return { text: ADD, values }
    return { text: ADD_WITH_AUDIT, values: [...values, ...auditValues(audit)] }
  }

  async get(sessionId: string, toolUseId: string): Promise<SeenCall | undefined> {
    const sql = `SELECT ${COLUMNS} FROM seen_calls WHERE ${IS_THE_CALL}`
    const row = await this.#reader.get(sql, [toStored(sessionId), toStored(toolUseId)])
    return row && toCall(row)
  }

  async list({ session, since = "", after, limit }: SeenFilter): Promise<readonly NumberedCall[]> {
    const most = Math.max(0, Math.min(limit, MAX_LISTED))
    const values: SqlValue[] = [after, toStored(since), most]
    const ofSession = session === undefined ? "" : `AND session = $${values.push(toStored(session))}`
    const sql = `SELECT ${COLUMNS} FROM seen_calls WHERE number > $1 AND at >= $2 ${ofSession} ORDER BY number LIMIT $3`
    return (await this.#reader.all(sql, values)).map(toCall)
  }
}

function toCall([number, session, toolUse, seq, at, body, isPurged]: SqlRow): NumberedCall {
  const kept: Pick<SeenCall, "tool" | "effect"> = JSON.parse(String(body))
  const told = isPurged === true ? purgedCall(kept) : kept
  const place = { sessionId: fromStored(String(session)), toolUseId: fromStored(String(toolUse)) }
  const when = { at: fromStored(String(at)), seq: seq === null ? null : Number(seq) }
  return { number: Number(number), ...place, ...told, ...when }
}
