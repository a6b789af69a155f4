import { setImmediate as nextTurn } from "node:timers/promises"
import type { Database } from "../database.ts"
import { type CheckedBlock, checkedBlocks } from "./checked-blocks.js"

/** Tables whose rows people know: what a backup and a check are told in. */
export const TOLD_TABLES = ["sessions", "events", "asks", "messages", "tokens", "audit"] as const

export interface Survey {
  readonly schema: number
  /** Without the room that was freed inside the file. */
  readonly bytes: number
  readonly rows: Readonly<Record<string, number>>
}

/** Counts of a database's rows. A table that an older version did not have is left out. */
export function survey(database: Database): Survey {
  const number = (sql: string) => Number(database.get(sql, [])?.[0] ?? 0)
  const pages = number("PRAGMA page_count") - number("PRAGMA freelist_count")
  const present = new Set(tablesOf(database))
  const rows = TOLD_TABLES.filter((table) => present.has(table)).map((table) => [table, countRows(database, table)])
  return {
    schema: number("PRAGMA user_version"),
    bytes: pages * number("PRAGMA page_size"),
    rows: Object.fromEntries(rows),
  }
}

/** The last number given in tables that never give one again, whatever a purge deletes. */
export type LastNumbers = Readonly<Record<string, number>>

const LAST_NUMBERS: Readonly<Record<string, string>> = {
  events: "SELECT max(id) FROM events",
  tokens: "SELECT number FROM tokens ORDER BY number DESC LIMIT 1",
  audit: "SELECT max(seq) FROM sqlite_sequence WHERE name = 'audit'",
}

export function lastNumbers(database: Database): LastNumbers {
  const present = new Set(tablesOf(database))
  const numbers = Object.entries(LAST_NUMBERS)
    .filter(([table]) => present.has(table))
    .map(([table, sql]) => [table, Number(database.get(sql, [])?.[0] ?? 0)])
  return Object.fromEntries(numbers)
}

/** Blocks between which a signal that ends the process is heard. */
const BLOCKS_AT_ONCE = 16

/** Blocks of compressed lines that can't be unpacked. */
export async function* damagedBlocks(database: Database): AsyncGenerator<CheckedBlock, void> {
  let looked = 0
  for (const block of checkedBlocks((sql, values) => database.all(sql, values))) {
    if (block.damage !== undefined) yield block
    if (++looked % BLOCKS_AT_ONCE === 0) await nextTurn()
  }
}

function countRows(database: Database, table: string): number {
  return Number(database.get(`SELECT count(*) FROM ${quoted(table)}`, [])?.[0] ?? 0)
}

/** The tables that hold rows of their own, in the order they were made. Those inside a full-text index of an older version do not. */
export function tablesOf(database: Database, schema: "main" | "old" = "main"): readonly string[] {
  const inside = `SELECT name FROM pragma_table_list WHERE schema = '${schema}' AND type = 'shadow'`
  const named = `SELECT name FROM ${schema}.sqlite_schema
    WHERE type = 'table' AND rootpage > 0 AND substr(name, 1, 7) <> 'sqlite_' AND name NOT IN (${inside})`
  return database.all(`${named} ORDER BY rowid`, []).map(([name]) => String(name))
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
