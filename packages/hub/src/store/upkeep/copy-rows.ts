import { setImmediate as nextTurn } from "node:timers/promises"
import type { Database, SqlValue } from "../database.ts"
import { isUnreadableSchema } from "./database-file.ts"
import { quoted } from "./soundness.ts"

export interface SavedTable {
  readonly table: string
  readonly saved: number
  /** Counted by an index of the table where one can be read; else the numbers that could not be read, which is the most. */
  readonly lost: number
}

/** The facts about a table. Read from the sound copy of the schema. */
interface Shape {
  readonly table: string
  /** Without those that SQLite computes. */
  readonly columns: readonly string[]
  /** Columns that a row can do without. */
  readonly defaulted: ReadonlySet<string>
  readonly key: readonly string[]
  readonly hasRowid: boolean
  /** Indexes of all rows, with their columns. */
  readonly indexes: readonly { readonly name: string; readonly columns: readonly string[] }[]
}

/** Rows that one statement takes at most. */
const ROWS_AT_ONCE = 65_536
/** More rows than any table has. */
const MAX_ROWS = 2 ** 40

/**
 * Copies what can be read of a table of `old` into its namesake in `main`. SQLite moves the rows: no value passes through
 * here, so none is changed.
 */
export async function copyReadable(database: Database, table: string): Promise<SavedTable> {
  const shape = shapeOf(database, table)
  const insertOf = (names: readonly string[]) => {
    const columns = names.map(quoted).join(", ")
    return `INSERT OR IGNORE INTO main.${quoted(table)} (${columns}) SELECT ${columns} FROM old.${quoted(table)}`
  }
  const insert = insertOf(shape.columns)
  const tryRun = (sql: string, values: readonly SqlValue[]) => tryTo(() => database.run(sql, values)) !== undefined
  let unreadable = 0
  if (shape.hasRowid) {
    const sql = `${insert} NOT INDEXED WHERE rowid > ? AND rowid <= ?`
    unreadable = await takeReadable(database, shape, "old", (after, upTo) => tryRun(sql, [after, upTo]))
    if (unreadable > 0)
      takeFromIndexes(shape, (columns, from) => (limit) => tryRun(`${insertOf(columns)} ${from}`, [limit]))
  } else {
    takeFromBothEnds(
      (order) => (limit) => tryRun(`${insert} NOT INDEXED ${orderBy(shape.key, order)} LIMIT ?`, [limit]),
    )
  }
  const saved = Number(database.get(`SELECT count(*) FROM main.${quoted(table)}`, [])?.[0] ?? 0)
  const counted = countRows(database, shape, "old")
  return { table, saved, lost: counted === undefined ? unreadable : Math.max(0, counted - saved) }
}

/** How much of a table can be read, without copying it. Undefined for one whose rows have no numbers. */
export async function countReadable(database: Database, table: string): Promise<SavedTable | undefined> {
  const shape = shapeOf(database, table)
  if (!shape.hasRowid) return undefined
  // A value that is compared is read to its end, wherever in the file that is.
  const read = shape.columns.map((column) => `max(${quoted(column)})`).join(", ")
  const sql = `SELECT count(*), ${read} FROM main.${quoted(table)} NOT INDEXED WHERE rowid > ? AND rowid <= ?`
  let saved = 0
  const unreadable = await takeReadable(database, shape, "main", (after, upTo) => {
    const [row] = tryTo(() => database.all(sql, [after, upTo])) ?? []
    saved += Number(row?.[0] ?? 0)
    return row !== undefined
  })
  const counted = countRows(database, shape, "main")
  return { table, saved, lost: counted === undefined ? unreadable : Math.max(0, counted - saved) }
}

type Schema = "main" | "old"

/**
 * Takes the rows in ranges of their numbers. A range that fails is halved, until each number that cannot be read stands
 * alone. Returns how many those are.
 */
async function takeReadable(
  database: Database,
  shape: Shape,
  schema: Schema,
  take: (after: number, upTo: number) => boolean,
): Promise<number> {
  const any = `SELECT 1 FROM ${schema}.${quoted(shape.table)} NOT INDEXED WHERE rowid > ? AND rowid <= ? LIMIT 1`
  const isEmpty = (after: number, upTo: number) => tryTo(() => database.all(any, [after, upTo]))?.length === 0
  const open = [rangeOf(database, shape, schema)]
  let unreadable = 0
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    // A signal that ends the process is heard in between.
    await nextTurn()
    const { after, upTo } = range
    const size = upTo - after
    if (size <= 0 || (size <= ROWS_AT_ONCE ? take(after, upTo) : isEmpty(after, upTo))) continue
    if (size === 1) {
      unreadable++
      continue
    }
    const middle = after + Math.floor(size / 2)
    open.push({ after: middle, upTo }, { after, upTo: middle })
  }
  return unreadable
}

/** From before the first row to the last. Where the ends cannot be read, an index may tell; else the last row that can. */
function rangeOf(database: Database, { table, indexes }: Shape, schema: Schema): { after: number; upTo: number } {
  const from = `FROM ${schema}.${quoted(table)}`
  const ways = ["NOT INDEXED", ...indexes.map(({ name }) => `INDEXED BY ${quoted(name)}`)]
  const first = (sqls: readonly string[], values: readonly SqlValue[] = []) => {
    for (const sql of sqls) {
      const [row] = tryTo(() => database.all(sql, values)) ?? []
      if (row !== undefined) return { value: row[0] ?? null }
    }
    return undefined
  }
  const least = first(ways.map((way) => `SELECT min(rowid) ${from} ${way}`))
  const most = first(ways.map((way) => `SELECT max(rowid) ${from} ${way}`))
  const after = typeof least?.value === "number" ? least.value - 1 : 0
  if (most !== undefined) return { after, upTo: typeof most.value === "number" ? most.value : 0 }
  let upTo = 0
  for (let step = MAX_ROWS; step >= 1; step /= 2) {
    const next = first([`SELECT min(rowid) ${from} NOT INDEXED WHERE rowid >= ?`], [upTo + step])
    if (typeof next?.value === "number") upTo += step
  }
  return { after, upTo }
}

type TakeSome = (limit: number) => boolean

/** For rows without numbers: from the beginning as far as it goes, and from the end as far as it goes. */
function takeFromBothEnds(taker: (order: "ASC" | "DESC") => TakeSome): void {
  for (const order of ["ASC", "DESC"] as const) {
    const take = taker(order)
    // Without a limit.
    if (take(-1)) return
    let [good, bad] = [0, 1]
    while (bad < MAX_ROWS && take(bad)) [good, bad] = [bad, bad * 2]
    while (bad - good > 1) {
      const middle = good + Math.floor((bad - good) / 2)
      if (take(middle)) good = middle
      else bad = middle
    }
  }
}

/** An index that has every column that its table's rows need has the rows a second time. */
function takeFromIndexes(
  { columns, defaulted, key, indexes }: Shape,
  taker: (columns: readonly string[], from: string) => TakeSome,
): void {
  for (const index of indexes) {
    const has = new Set([...index.columns, ...key])
    if (!columns.every((column) => has.has(column) || defaulted.has(column))) continue
    const taken = columns.filter((column) => has.has(column))
    takeFromBothEnds((order) =>
      taker(taken, `INDEXED BY ${quoted(index.name)} ${orderBy(index.columns, order)} LIMIT ?`),
    )
  }
}

function countRows(database: Database, { table, indexes }: Shape, schema: Schema): number | undefined {
  const ways = [...indexes.map(({ name }) => `INDEXED BY ${quoted(name)}`), "NOT INDEXED"]
  const counts = ways.flatMap((way) => {
    // SQLite would count with `count(*)` in whichever it likes.
    const [row] = tryTo(() => database.all(`SELECT sum(1) FROM ${schema}.${quoted(table)} ${way}`, [])) ?? []
    return row === undefined ? [] : Number(row[0])
  })
  return counts.length === 0 ? undefined : Math.max(...counts)
}

function shapeOf(database: Database, table: string): Shape {
  const name = quoted(table)
  const described = database.all(`PRAGMA main.table_xinfo(${name})`, [])
  const listed = database.all(`PRAGMA main.index_list(${name})`, [])
  const columnsOf = (index: string) =>
    database.all(`PRAGMA main.index_info(${quoted(index)})`, []).map(([, , column]) => String(column))
  const [isWithoutRowid] =
    database.get("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", [table]) ?? []
  return {
    table,
    columns: described.filter(([, , , , , , hidden]) => Number(hidden) === 0).map(([, column]) => String(column)),
    defaulted: new Set(described.filter(([, , , , value]) => value !== null).map(([, column]) => String(column))),
    key: described
      .filter(([, , , , , place]) => Number(place) > 0)
      .toSorted(([, , , , , a], [, , , , , b]) => Number(a) - Number(b))
      .map(([, column]) => String(column)),
    hasRowid: Number(isWithoutRowid ?? 0) === 0,
    indexes: listed
      // Not those of some rows, and not the primary key of a table without numbers, which is the table itself.
      .filter(([, , , origin, partial]) => Number(partial) === 0 && !(origin === "pk" && Number(isWithoutRowid) === 1))
      .map(([, index]) => ({ name: String(index), columns: columnsOf(String(index)) })),
  }
}

function orderBy(columns: readonly string[], order: "ASC" | "DESC"): string {
  return `ORDER BY ${columns.map((column) => `${quoted(column)} ${order}`).join(", ")}`
}

/** Undefined if what it reads is damaged. A full disk is another matter. The driver's `get` fails for good once it has failed. */
function tryTo<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isUnreadableSchema(error)) return undefined
    throw error
  }
}
