import { HubError } from "../../errors.ts"
import type { Database } from "../database.ts"
import type { ColdBlock } from "./cold-messages.ts"

const ROW = "id, session, seq, at, origin, by, key, line"
const STAGE = `CREATE TEMP TABLE IF NOT EXISTS cold_rows (${ROW})`
const FILL_STAGE = `INSERT INTO cold_rows SELECT id, session, seq, at, origin, by, key, octet_length(line) FROM events
  WHERE session = ? AND seq IN (SELECT value FROM json_each(?)) AND typeof(line) = 'text' ORDER BY seq`

/**
 * Inside a transaction: the block is kept and the lines in it are gone from their rows, or it throws and nothing has changed, since
 * the log is not as it was when the block was made.
 */
export function keepBlock(database: Database, { session, from, upTo, seqs, rawBytes, body }: ColdBlock): void {
  const moved = database.run("UPDATE log_sessions SET cold_to = ? WHERE id = ? AND cold_to = ?", [upTo, session, from])
  if (moved !== 1) throw changed()
  const [first, last] = [seqs[0], seqs.at(-1)]
  if (first === undefined || last === undefined) return
  takeLinesOut(database, { session, seqs, rawBytes })
  database.run("INSERT INTO event_blocks (session, first_seq, last_seq, raw_bytes, body) VALUES (?, ?, ?, ?, ?)", [
    session,
    first,
    last,
    rawBytes,
    Buffer.from(body),
  ])
}

/** Rows are deleted and added again, with their ids: SQLite gives up no page for a row that only becomes shorter. */
function takeLinesOut(
  database: Database,
  { session, seqs, rawBytes }: Pick<ColdBlock, "session" | "seqs" | "rawBytes">,
) {
  database.exec(STAGE)
  const rows = database.run(FILL_STAGE, [session, JSON.stringify(seqs)])
  const [bytes] = database.get("SELECT sum(line) FROM cold_rows", []) ?? []
  if (rows !== seqs.length || bytes !== rawBytes) throw changed()
  database.run("DELETE FROM events WHERE id IN (SELECT id FROM cold_rows)", [])
  database.run(`INSERT INTO events (${ROW}) SELECT ${ROW} FROM cold_rows`, [])
  database.run("DELETE FROM cold_rows", [])
}

/** For whoever deletes a session's events, after their rows: how many blocks went, at most so many. */
export function dropBlocks(database: Database, session: number, limit: number): number {
  const some = "SELECT id FROM event_blocks WHERE session = ? LIMIT ?"
  return database.run(`DELETE FROM event_blocks WHERE id IN (${some})`, [session, limit])
}

function changed(): HubError {
  return new HubError("store/failed", "The session changed while it was being compressed: it is tried again later.")
}
