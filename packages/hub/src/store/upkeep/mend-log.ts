import { randomUUID } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import { newSession } from "../../model/session-record.ts"
import { type Database, openAsIs } from "../database.ts"
import { SessionTable } from "../directory/sessions.ts"
import { fromStoredKey, keySlot } from "../key-slot.ts"
import { migrate } from "../migrations/index.ts"
import { IS_OF_A_SESSION } from "../purged-logs.ts"
import { damagedBlocks } from "./soundness.ts"

export interface Mended {
  /** Events in whose place a note stands. */
  readonly notedEvents: number
  /** Sessions whose record was lost and was made anew from their events. */
  readonly madeSessions: number
}

const PAGE = 1_000
/** A number so far behind the others is itself a product of the damage. */
const MAX_HOLE = 1_000_000

/**
 * Brings what was saved into the shape that a hub relies on: every log has its name and its session, the numbers of its events
 * have no hole, keys are found, and marks say what is there. Numbers stay what they were, since asks, messages and read marks refer
 * to them.
 */
export async function mendLog(file: string, damaged: ReadonlySet<string>): Promise<Mended> {
  const database = openAsIs(file)
  try {
    database.exec("PRAGMA foreign_keys = OFF")
    migrate(database)
    database.exec("BEGIN IMMEDIATE")
    database.run(MISSING_MARKS, [])
    nameLogs(database)
    database.exec(COMPLETE_COLD)
    const madeSessions = damaged.size > 0 ? makeSessions(database) : 0
    if (damaged.has("event_keys") || damaged.has("store_marks")) await indexKeys(database)
    const isLineLost = (await dropDamagedBlocks(database)) || damaged.has("event_blocks")
    let notedEvents = isLineLost ? noteLostLines(database) : 0
    for (const log of logsOf(database)) notedEvents += await fillHoles(database, log)
    completeMarks(database)
    database.exec("COMMIT")
    return { notedEvents, madeSessions }
  } finally {
    database.close()
  }
}

/** A log whose name came from an index does not know how far it is compressed. */
const COMPLETE_COLD = `UPDATE log_sessions SET cold_to = coalesce(
  (SELECT max(last_seq) FROM event_blocks WHERE event_blocks.session = log_sessions.id), 0) WHERE cold_to = 0`

const MISSING_MARKS = `INSERT OR IGNORE INTO store_marks (name, value) VALUES ('probe', 0), ('keyed-to', 0),
  ('identity', random() >> 11), ('purged-events', 0), ('cold-bytes', 0), ('block-bytes', 0)`

/** Marks that count are counted anew. The log without a name holds a number, not an event. */
function completeMarks(database: Database): void {
  const holders = "SELECT id FROM log_sessions WHERE name = ''"
  const counts = {
    "purged-events": `SELECT coalesce(max(id), 0) - count(*) FILTER (WHERE session NOT IN (${holders})) FROM events`,
    "cold-bytes": "SELECT coalesce(sum(raw_bytes), 0) FROM event_blocks",
    "block-bytes": "SELECT coalesce(sum(octet_length(body)), 0) FROM event_blocks",
  }
  for (const [name, count] of Object.entries(counts))
    database.run(`UPDATE store_marks SET value = (${count}) WHERE name = ?`, [name])
}

/** Events whose log lost its name get a session of their own. */
function nameLogs(database: Database): void {
  const nameless = database.all(
    "SELECT DISTINCT session FROM events WHERE session NOT IN (SELECT id FROM log_sessions)",
    [],
  )
  for (const [number] of nameless)
    database.run("INSERT INTO log_sessions (id, name) VALUES (?, ?)", [number ?? null, randomUUID()])
}

/** The hub reads title, model, turns and cost from the events when it starts. */
function makeSessions(database: Database): number {
  const table = new SessionTable(database)
  const lost = database.all(
    `SELECT name, (SELECT at FROM events WHERE events.session = log_sessions.id ORDER BY seq LIMIT 1) AS began FROM log_sessions
     WHERE ${IS_OF_A_SESSION} AND began IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = log_sessions.name)`,
    [],
  )
  for (const [name, began] of lost) {
    const { record, own } = newSession({ title: "Saved from a damaged database" }, new Date(Number(began)))
    table.save({ record: { ...record, id: String(name), state: "ended" }, own }, false)
  }
  return lost.length
}

async function indexKeys(database: Database): Promise<void> {
  let last = 0
  for (;;) {
    const rows = database.all(
      "SELECT id, session, seq, key FROM events WHERE id > ? AND key IS NOT NULL ORDER BY id LIMIT ?",
      [last, PAGE],
    )
    for (const [id, session, seq, key] of rows) {
      const values = [Number(session), keySlot(fromStoredKey(String(key))), Number(seq)]
      database.run("INSERT OR IGNORE INTO event_keys (session, slot, seq) VALUES (?, ?, ?)", values)
      last = Number(id)
    }
    if (rows.length < PAGE) break
    // A signal that ends the process is heard in between.
    await nextTurn()
  }
  const newest = "(SELECT coalesce(max(id), 0) FROM events)"
  database.run(`UPDATE store_marks SET value = ${newest} WHERE name = 'keyed-to'`, [])
}

interface NamedLog {
  readonly number: number
  readonly name: string
}

function* logsOf(database: Database): Generator<NamedLog> {
  let last = 0
  for (;;) {
    const rows = database.all(
      `SELECT id, name FROM log_sessions WHERE id > ? AND ${IS_OF_A_SESSION} ORDER BY id LIMIT ?`,
      [last, PAGE],
    )
    for (const [id, name] of rows) yield { number: Number(id), name: String(name) }
    if (rows.length < PAGE) return
    last = Number(rows.at(-1)?.[0])
  }
}

/** A block that can't be unpacked is as good as lost. */
async function dropDamagedBlocks(database: Database): Promise<boolean> {
  let isAny = false
  for await (const { id } of damagedBlocks(database)) {
    database.run("DELETE FROM event_blocks WHERE id = ?", [id])
    isAny = true
  }
  return isAny
}

/** Events whose lines were in a block that is lost. */
function noteLostLines(database: Database): number {
  return database.run(
    `UPDATE events SET origin = 'hub', by = NULL, line = ? WHERE typeof(line) = 'integer' AND NOT EXISTS (
       SELECT 1 FROM event_blocks WHERE event_blocks.session = events.session AND seq BETWEEN first_seq AND last_seq)`,
    [JSON.stringify({ type: "hub", subtype: "events_lost", count: 1 })],
  )
}

/** Also behind the last event, as far as the session's record says there was one. */
async function fillHoles(database: Database, { number, name }: NamedLog): Promise<number> {
  let [last, noted] = [0, 0]
  for (;;) {
    await nextTurn()
    const rows = database.all("SELECT seq FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?", [
      number,
      last,
      PAGE,
    ])
    for (const seq of rows.map(([value]) => Number(value))) {
      if (seq - last > MAX_HOLE) {
        database.run("DELETE FROM events WHERE session = ? AND seq >= ?", [number, seq])
        return noted
      }
      noted += note(database, number, [last + 1, seq - 1])
      last = seq
    }
    if (rows.length < PAGE) break
  }
  const recorded = lastSeqOf(database, name)
  return recorded - last > MAX_HOLE ? noted : noted + note(database, number, [last + 1, recorded])
}

function lastSeqOf(database: Database, name: string): number {
  const record = database.get(
    "SELECT CASE WHEN json_valid(record) THEN json_extract(record, '$.lastSeq') END FROM sessions WHERE id = ?",
    [name],
  )
  return Number(record?.[0] ?? 0)
}

/** One note for each lost event; the first says how many they are. */
function note(database: Database, number: number, [from, to]: readonly [number, number]): number {
  if (to < from) return 0
  const near = "SELECT at FROM events WHERE session = ? AND seq"
  const at =
    database.get(`${near} < ? ORDER BY seq DESC LIMIT 1`, [number, from])?.[0] ??
    database.get(`${near} > ? ORDER BY seq LIMIT 1`, [number, to])?.[0] ??
    Date.now()
  for (let seq = from; seq <= to; seq++) {
    const count = seq === from ? { count: to - from + 1 } : {}
    const line = JSON.stringify({ type: "hub", subtype: "events_lost", ...count })
    database.run("INSERT INTO events (session, seq, at, origin, line) VALUES (?, ?, ?, 'hub', ?)", [
      number,
      seq,
      at,
      line,
    ])
  }
  return to - from + 1
}
