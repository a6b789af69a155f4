import type { AskState } from "@signalbox/protocol/hub-api"
import { leftInRow, leftInRun, type PurgedTable, runNamed, runOf } from "../../model/purged.ts"
import type { Database, SqlRow, SqlValue } from "../database.ts"
import { RuleUseTable } from "./rule-uses.ts"

/** How many rows were dealt with, and the place of the last of them. Fewer than the limit: there are no more. */
interface Purged {
  readonly rows: number
  readonly last: SqlValue
}

type PurgePart = (session: string, after: SqlValue, limit: number) => Purged

/** One step deals with no more than this, but with one row at least. */
const STEP_ROWS = 100
const STEP_BYTES = 512 * 1024
/** Before every number. */
const START = 0
const DONE: Purged = { rows: 0, last: START }
const STATES: Readonly<Record<AskState, true>> = {
  pending: true,
  allowed: true,
  denied: true,
  expired: true,
  cancelled: true,
  superseded: true,
  orphaned: true,
}
const ASK_STATES = Object.keys(STATES)

/** True for rows of a session that is being purged: what they say is not told any more. */
export const isBeingPurged = (table: string) => `EXISTS (SELECT 1 FROM purges WHERE purges.session = ${table}.session)`

/**
 * Sessions that are being purged. The session itself is gone with the first step; then follow, part by part, the things that hang on
 * it. Runs inside transactions.
 */
export class PurgeTable {
  readonly #database: Database
  /** By their names, in their order. */
  readonly #parts: ReadonlyMap<string, PurgePart>

  constructor(database: Database) {
    this.#database = database
    const part =
      (kind: Kind): PurgePart =>
      (session, after, limit) =>
        this.#step(kind, [session, after, limit], limit)
    this.#parts = new Map<string, PurgePart>([
      ["messages", part(MESSAGES)],
      ["small", (session) => this.#deleteSmall(session)],
      ["run", (session) => this.#leaveRun(session)],
      ["calls", part(CALLS)],
      ...ASK_STATES.map((state) => [`asks ${state}`, part(asksOf(state))] as const),
      ["audit", part(AUDIT)],
    ])
  }

  /** False when there is no such session. */
  begin(session: string): boolean {
    const [runner] = this.#database.get("SELECT runner FROM sessions WHERE id = ?", [session]) ?? []
    if (runner === undefined) return false
    this.#database.run("DELETE FROM sessions WHERE id = ?", [session])
    const [first = ""] = this.#parts.keys()
    const insert = "INSERT OR REPLACE INTO purges (session, part, after, runner) VALUES (?, ?, ?, ?)"
    this.#database.run(insert, [session, first, START, runner])
    return true
  }

  get isAny(): boolean {
    return this.#database.get("SELECT 1 FROM purges LIMIT 1", []) !== undefined
  }

  /** A part of the first of them: as many rows as a step takes, or the rest. */
  some(): void {
    const [session, name, start] = this.#database.get("SELECT session, part, after FROM purges LIMIT 1", []) ?? []
    if (session === undefined) return
    const names = [...this.#parts.keys()]
    let after = start ?? START
    let left = STEP_ROWS
    for (const part of names.slice(Math.max(0, names.indexOf(String(name))))) {
      const { rows, last } = this.#parts.get(part)?.(String(session), after, left) ?? DONE
      left -= rows
      if (left <= 0) {
        this.#database.run("UPDATE purges SET part = ?, after = ? WHERE session = ?", [part, last, session])
        return
      }
      after = START
    }
    this.#database.run("DELETE FROM purges WHERE session = ?", [session])
  }

  /** Read marks are as many as people. Nobody can show an agent's token any more. A permission that the hub gave went with the session; one in a settings file holds on. */
  #deleteSmall(session: string): Purged {
    this.#database.run("DELETE FROM read_marks WHERE session = ?", [session])
    this.#database.run("DELETE FROM seen_calls WHERE session = ? AND tool_use = ''", [session])
    this.#database.run("DELETE FROM documents WHERE name = 'clients/' || ?", [session])
    this.#database.run("DELETE FROM tokens WHERE session = ? AND role = 'agent'", [session])
    new RuleUseTable(this.#database).leave(session)
    this.#database.run(
      "DELETE FROM grants WHERE session = ? AND CASE WHEN json_valid(body) THEN json_extract(body, '$.where') IN ('hub', 'session') END",
      [session],
    )
    return DONE
  }

  #leaveRun(session: string): Purged {
    const [run] = this.#database.get("SELECT value FROM documents WHERE name = ?", [runOf(session)]) ?? []
    if (run === undefined) return DONE
    // The id in quotation marks. It has nothing to escape.
    const id = String(run).slice(1, -1)
    rewrite(this.#database, { table: "documents", key: "name", number: runNamed(id) }, (body) =>
      leftInRun(body, session),
    )
    this.#database.run("DELETE FROM documents WHERE name = ?", [runOf(session)])
    return DONE
  }

  #step({ select, act }: Kind, values: readonly SqlValue[], limit: number): Purged {
    const rows = this.#database.all(select, values)
    const some = withinBytes(rows)
    for (const [, number = null] of some) act(this.#database, number)
    return { rows: some.length < rows.length ? limit : rows.length, last: some.at(-1)?.[0] ?? START }
  }
}

/** The first of these rows, as many as a step takes by their lengths, but one at least. */
function withinBytes(rows: readonly SqlRow[]): readonly SqlRow[] {
  let bytes = 0
  const tooMany = rows.findIndex(([, , size], index) => {
    bytes += Number(size)
    return bytes > STEP_BYTES && index > 0
  })
  return tooMany === -1 ? rows : rows.slice(0, tooMany)
}

/**
 * Goes through the rows of a session by an index that begins with it, after a place in it and up to a limit: each row is its place, its
 * number and its length.
 */
interface Kind {
  readonly select: string
  readonly act: (database: Database, number: SqlValue) => void
}

const MESSAGES: Kind = {
  // Deleted rows are not found again, so there is no place to go on from.
  select: `SELECT ${START}, number, octet_length(line) FROM messages WHERE session = ?1 AND ?2 IS NOT NULL LIMIT ?3`,
  act: (database, number) => void database.run("DELETE FROM messages WHERE number = ?", [number]),
}

function asksOf(state: string): Kind {
  return {
    select: `SELECT number, number, octet_length(body) FROM asks
      WHERE session = ? AND state = '${state}' AND number > ? ORDER BY number LIMIT ?`,
    act: (database, number) => leaveRow(database, "asks", number),
  }
}

const CALLS: Kind = {
  select: `SELECT tool_use, number, octet_length(body) FROM seen_calls
    WHERE session = ?1 AND tool_use > CASE ?2 WHEN ${START} THEN '' ELSE ?2 END ORDER BY tool_use LIMIT ?3`,
  act: (database, number) => leaveRow(database, "seen_calls", number),
}

const AUDIT: Kind = {
  select: "SELECT id, id, octet_length(body) FROM audit WHERE session = ? AND id > ? ORDER BY id LIMIT ?",
  act: (database, number) => {
    leaveRow(database, "audit", number)
    // Audits of a machine find its records without the session.
    const runner = "SELECT runner FROM purges WHERE purges.session = audit.session"
    database.run(`UPDATE audit SET runner = (${runner}) WHERE id = ? AND runner IS NULL`, [number])
  },
}

interface Place {
  readonly table: PurgedTable | "documents"
  readonly key: "number" | "id" | "name"
  readonly number: SqlValue
}

function leaveRow(database: Database, table: PurgedTable, number: SqlValue): void {
  rewrite(database, { table, key: table === "audit" ? "id" : "number", number }, (body) => leftInRow(table, body))
}

function rewrite(database: Database, { table, key, number }: Place, leave: (body: string) => string | null): void {
  const column = table === "documents" ? "value" : "body"
  const [body] = database.get(`SELECT ${column} FROM ${table} WHERE ${key} = ?`, [number]) ?? []
  const left = leave(String(body))
  if (left === null) database.run(`DELETE FROM ${table} WHERE ${key} = ?`, [number])
  else database.run(`UPDATE ${table} SET ${column} = ? WHERE ${key} = ?`, [left, number])
}
