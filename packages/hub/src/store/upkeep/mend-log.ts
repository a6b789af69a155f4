import { randomUUID } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import { newSession } from "../../model/session-record.ts"
import { ColdLines } from "../cold/cold-lines.js"
import { type Database, openAsIs } from "../database.ts"
import { SessionTable } from "../directory/sessions.ts"
import { fromStoredKey, keySlot } from "../key-slot.ts"
import { migrate } from "../migrations/index.ts"
import { IS_OF_A_SESSION } from "../purged-logs.ts"
import { damagedBlocks } from "./soundness.ts"

export interface Mended {
  /** Lost events of which a note tells. */
  readonly notedEvents: number
  /** Sessions whose record was lost and was made anew from their events, or that were made for events behind a long hole. */
  readonly madeSessions: number
}

const PAGE = 1_000
/** So many lost events in a row have a note each. Numbers have no hole, so what follows a longer one needs other numbers. */
const MAX_HOLE = 1_000_000
const LOST = JSON.stringify({ type: "hub", subtype: "events_lost" })

/**
 * Brings what was saved into the shape that a hub relies on: every log has its name and its session, the numbers of its events
 * have no hole, keys are found, and marks say what is there. Numbers stay what they were, since asks, messages and read marks refer
 * to them; only behind a hole that is too long to be filled they begin anew, in a session of their own.
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
    if (damaged.has("event_keys") || damaged.has("store_marks")) await indexKeys(database)
    const isLineLost = (await dropDamagedBlocks(database)) || damaged.has("event_blocks")
    let notedEvents = isLineLost ? noteLostLines(database) : 0
    let isMoved = false
    for (const log of logsOf(database)) {
      for (let rest: NamedLog | undefined = log; rest !== undefined; isMoved ||= rest !== undefined) {
        const { noted, tail }: Filled = await fillHoles(database, rest)
        notedEvents += noted
        rest = tail
      }
    }
    const madeSessions = damaged.size > 0 || isMoved ? makeSessions(database) : 0
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
    [lostLine(1)],
  )
}

interface Filled {
  readonly noted: number
  /** Events behind a hole that is too long to be filled: they have holes of their own. */
  readonly tail?: NamedLog
}

/** Also behind the last event, as far as the session's record says there was one. */
async function fillHoles(database: Database, log: NamedLog): Promise<Filled> {
  let [last, noted] = [0, 0]
  const some = "SELECT seq, id FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?"
  for (;;) {
    await nextTurn()
    const rows = database.all(some, [log.number, last, PAGE])
    for (const [seq, id] of rows.map((row) => row.map(Number))) {
      if (seq === undefined || id === undefined) continue
      const isLong = seq - last - 1 > MAX_HOLE
      // Each event has an id of its own, and they go up: a number greater than its event's id is itself a product of the damage.
      if (!isLong || seq <= id) noted += note(database, log.number, [last + 1, seq - 1])
      if (isLong)
        return { noted: noted + takeOutOfBlocks(database, log.number, seq), tail: moveTail(database, log, seq) }
      last = seq
    }
    if (rows.length < PAGE) break
  }
  const recorded = lastSeqOf(database, log.name)
  noted += note(database, log.number, [last + 1, recorded])
  if (recorded - last > MAX_HOLE) endWhereItEnds(database, log)
  return { noted }
}

/** Events from this number on begin anew in a log of their own. Asks, calls and messages that refer to them go along. */
function moveTail(database: Database, log: NamedLog, from: number): NamedLog {
  const name = randomUUID()
  const [id] = database.get("INSERT INTO log_sessions (name) VALUES (?) RETURNING id", [name]) ?? []
  const tail = { number: Number(id), name }
  for (const table of ["events", "event_keys", "messages", "seen_calls"]) {
    const [to, of] = table.startsWith("event") ? [tail.number, log.number] : [name, log.name]
    const move = `UPDATE ${table} SET session = ?, seq = seq - ? WHERE session = ? AND seq >= ?`
    database.run(move, [to, from - 1, of, from])
  }
  database.run(
    `UPDATE asks SET session = ?1, body = json_set(body, '$.sessionId', ?1, '$.seq', json_extract(body, '$.seq') - ?2)
     WHERE session = ?3 AND CASE WHEN json_valid(body) THEN json_extract(body, '$.seq') > ?2 END`,
    [name, from - 1, log.name],
  )
  endWhereItEnds(database, log)
  return tail
}

/** Blocks name the numbers of their lines, so lines that get other numbers go back to their events. Returns how many are in no block. */
function takeOutOfBlocks(database: Database, number: number, from: number): number {
  let lost = 0
  const lines = new ColdLines((sql, values) => database.get(sql, values) ?? [])
  const next =
    "SELECT id, seq FROM events WHERE session = ? AND seq >= ? AND typeof(line) = 'integer' ORDER BY seq LIMIT ?"
  for (let at = from; ; ) {
    const rows = database.all(next, [number, at, PAGE])
    for (const [id = null, seq] of rows) {
      const line = lines.tryLine(number, Number(seq))
      if (line === undefined) lost++
      const change = line === undefined ? "origin = 'hub', by = NULL, line = ?" : "line = ?"
      database.run(`UPDATE events SET ${change} WHERE id = ?`, [line ?? lostLine(1), id])
      at = Number(seq) + 1
    }
    if (rows.length < PAGE) break
  }
  database.run("DELETE FROM event_blocks WHERE session = ? AND first_seq >= ?", [number, from])
  database.run("UPDATE event_blocks SET last_seq = ? WHERE session = ? AND last_seq >= ?", [from - 1, number, from])
  database.run("UPDATE log_sessions SET cold_to = min(cold_to, ?) WHERE id = ?", [from - 1, number])
  return lost
}

/** A hub that starts reads the events behind the last one that the session's record knows. */
function endWhereItEnds(database: Database, { number, name }: NamedLog): void {
  const last = "coalesce((SELECT max(seq) FROM events WHERE session = ?), 0)"
  const set = `UPDATE sessions SET record = json_set(record, '$.lastSeq', ${last}) WHERE id = ? AND json_valid(record)`
  database.run(set, [number, name])
}

function lastSeqOf(database: Database, name: string): number {
  const record = database.get(
    "SELECT CASE WHEN json_valid(record) THEN json_extract(record, '$.lastSeq') END FROM sessions WHERE id = ?",
    [name],
  )
  return Number(record?.[0] ?? 0)
}

/** One note for each lost event, or for all of a long hole; the first says how many they are. */
function note(database: Database, number: number, [from, to]: readonly [number, number]): number {
  if (to < from) return 0
  const lost = to - from + 1
  const near = "SELECT at FROM events WHERE session = ? AND seq"
  const at =
    database.get(`${near} < ? ORDER BY seq DESC LIMIT 1`, [number, from])?.[0] ??
    database.get(`${near} > ? ORDER BY seq LIMIT 1`, [number, to])?.[0] ??
    Date.now()
  const add = "INSERT INTO events (session, seq, at, origin, line) VALUES (?, ?, ?, 'hub', ?)"
  const end = lost > MAX_HOLE ? from : to
  for (let seq = from; seq <= end; seq++) database.run(add, [number, seq, at, seq === from ? lostLine(lost) : LOST])
  return lost
}

function lostLine(count: number): string {
  return JSON.stringify({ type: "hub", subtype: "events_lost", count })
}
