import { isObject, parseObject, textOf } from "@signalbox/protocol/envelope"
import type { SqlValue } from "../database.ts"
import { wordsOf } from "../directory/sessions.ts"
import { wholeOwn } from "../postgres/directory/sessions.ts"
import { IS_OF_A_SESSION } from "../purged-logs.ts"

export type MovedValue = string | number | boolean | null

/** A row as both stores have it, by PostgreSQL's columns. */
export type MovedRow = Readonly<Record<string, MovedValue>>

type ColumnType = "bigint" | "int" | "text" | "boolean"

export interface MovedTable {
  readonly name: string
  /** PostgreSQL's columns with their types. Rows are copied in the order of the first ones, which are their key. */
  readonly columns: readonly (readonly [name: string, type: ColumnType])[]
  readonly keys: readonly string[]
  /** Columns whose text may be long. */
  readonly long: readonly string[]
  /** True if the key is numbers: a copy that was interrupted goes on after the last of them. Other tables are short, and begin anew. */
  readonly isNumbered: boolean
  /** SQLite's rows by PostgreSQL's columns. */
  readonly sqliteRows: string
  /** Makes the same of what both keep in different ways. */
  readonly refine: (row: MovedRow) => MovedRow
  /** The table and the row that SQLite keeps. */
  readonly toSqlite: (row: MovedRow) => { readonly table: string; readonly row: Readonly<Record<string, SqlValue>> }
}

interface Differences {
  readonly long?: readonly string[]
  readonly sqliteRows?: string
  readonly refine?: (row: MovedRow) => MovedRow
  /** Columns that SQLite computes itself, or has not. */
  readonly without?: readonly string[]
  readonly also?: (row: MovedRow) => Readonly<Record<string, SqlValue>>
}

function table(name: string, keyCount: number, spec: string, differences: Differences = {}): MovedTable {
  const { long = [], sqliteRows = name, refine = (row) => row, without = [], also = () => ({}) } = differences
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the words below are these types
  const columns = spec.split(", ").map((column) => column.split(" ") as [string, ColumnType])
  const keys = columns.slice(0, keyCount).map(([column]) => column)
  const toSqlite = (row: MovedRow) => {
    const kept = Object.entries(row).filter(([column]) => !without.includes(column))
    const values = kept.map(([column, value]) => [column, typeof value === "boolean" ? Number(value) : value])
    return { table: name, row: { ...Object.fromEntries(values), ...also(row) } }
  }
  const isNumbered = columns.slice(0, keyCount).every(([, type]) => type !== "text")
  return { name, columns, keys, long, isNumbered, sqliteRows, refine, toSqlite }
}

const LOGS: MovedTable = {
  ...table("logs", 1, "number int, name text, last_seq int", {
    sqliteRows: `(SELECT id AS number, name,
      (SELECT coalesce(max(seq), 0) FROM events WHERE events.session = log_sessions.id) AS last_seq
      FROM log_sessions WHERE ${IS_OF_A_SESSION})`,
  }),
  toSqlite: ({ number = null, name = null }) => ({
    table: "log_sessions",
    row: { id: Number(number), name: String(name) },
  }),
}

const EVENTS: MovedTable = {
  ...table("events", 2, "log int, seq int, id bigint, at bigint, origin text, by text, key text, line text", {
    long: ["line"],
    // The session without a name holds a number, and has no events. A copy gets it last.
    sqliteRows: `(SELECT session AS log, seq, id, at, origin, by, key, line FROM events
      WHERE session IS NOT (SELECT id FROM log_sessions WHERE name = ''))`,
  }),
}

/** In the order in which they are copied. What is being purged is purged before. */
export const MOVED_TABLES: readonly MovedTable[] = [
  LOGS,
  EVENTS,
  table(
    "sessions",
    1,
    "number bigint, id text, created_at text, updated_at text, title text, state text, pinned boolean, runner text, agent_session text, request_key text, next text, last_uuid text, at_rest boolean, words text, record text, own text, reply text",
    {
      long: ["record", "own"],
      sqliteRows: "(SELECT *, NULL AS reply FROM sessions WHERE number IS NOT NULL)",
      without: ["reply"],
      // PostgreSQL keeps the reply apart, or not.
      refine: (row) => ({
        ...row,
        words: row["words"] ?? wordsOfRecord(row["record"]),
        own: JSON.stringify(wholeOwn(String(row["own"]), row["reply"])),
        reply: null,
      }),
    },
  ),
  table(
    "asks",
    1,
    "number bigint, id text, session text, state text, undelivered boolean, delivered_at text, tool_use text, body text",
    {
      long: ["body"],
      without: ["tool_use"],
      refine: (row) => ({ ...row, tool_use: textOf(bodyOf(row), "toolUseId") ?? null }),
    },
  ),
  table("seen_calls", 1, "number bigint, session text, tool_use text, seq int, at text, effect text, body text", {
    long: ["body"],
    sqliteRows: "(SELECT number, session, tool_use, seq, at, '' AS effect, body FROM seen_calls)",
    without: ["effect"],
    refine: (row) => ({ ...row, effect: textOf(bodyOf(row), "effect") ?? "" }),
  }),
  table(
    "messages",
    1,
    "number bigint, session text, uuid text, seq int, state text, incarnation text, line text, by text, at text",
    { long: ["line"] },
  ),
  table(
    "tokens",
    1,
    "number bigint, id text, hash text, session text, role text, expires_at text, revoked_at text, body text",
    {
      sqliteRows:
        "(SELECT number, id, hash, session, role, expires_at, NULL AS revoked_at, body FROM tokens WHERE number IS NOT NULL)",
      without: ["revoked_at"],
      refine: (row) => revoked(row, { revoked_at: "revokedAt" }),
      also: ({ revoked_at = null }) => ({ revoked: revoked_at === null ? 0 : 1 }),
    },
  ),
  table("grants", 1, "number bigint, id text, session text, place text, revoked_at text, revoked_by text, body text", {
    sqliteRows: "(SELECT number, id, session, '' AS place, NULL AS revoked_at, NULL AS revoked_by, body FROM grants)",
    without: ["place", "revoked_at", "revoked_by"],
    refine: (row) => ({
      ...revoked(row, { revoked_at: "revokedAt", revoked_by: "revokedBy" }),
      place: textOf(bodyOf(row), "where") ?? "",
    }),
    also: ({ revoked_at = null }) => ({ revoked: revoked_at === null ? 0 : 1 }),
  }),
  table(
    "audit",
    1,
    "id bigint, at text, what text, by text, session text, rule text, tool text, runner text, body text",
    {
      long: ["body"],
      refine: (row) => ({
        ...row,
        at: row["at"] ?? textOf(bodyOf(row), "at") ?? "",
        what: row["what"] ?? textOf(bodyOf(row), "what") ?? "",
      }),
    },
  ),
  table("policies", 1, "version int, about text, policy text", { long: ["policy"] }),
  table("rule_uses", 3, "session text, rule text, day text, uses int"),
  table("read_marks", 2, "session text, person text, seq int"),
  table("documents", 1, "name text, value text", { long: ["value"] }),
]

function bodyOf({ body = null }: MovedRow): Readonly<Record<string, unknown>> | undefined {
  return typeof body === "string" ? parseObject(body) : undefined
}

/** PostgreSQL has these in columns, SQLite in the JSON: both get both. */
function revoked(row: MovedRow, names: Readonly<Record<string, string>>): MovedRow {
  const body = bodyOf(row) ?? {}
  const known = Object.entries(names).map(([column, field]) => {
    return { column, field, value: row[column] ?? textOf(body, field) ?? null }
  })
  const columns = Object.fromEntries(known.map(({ column, value }) => [column, value]))
  const fields = Object.fromEntries(known.map(({ field, value }) => [field, value]))
  return { ...row, ...columns, body: JSON.stringify({ ...body, ...fields }) }
}

function wordsOfRecord(record: MovedValue | undefined): string {
  const parsed: unknown = JSON.parse(String(record))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the store wrote it
  return isObject(parsed) ? wordsOf(parsed as unknown as Parameters<typeof wordsOf>[0]) : ""
}
