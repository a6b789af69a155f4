import { ColdLines, LINE_BYTES } from "../cold/cold-lines.js"
import { type Database, openDatabase, type SqlRow, type SqlValue } from "../database.ts"
import { fromStoredKey, keySlot, storedKey } from "../key-slot.ts"
import { migrate } from "../migrations/index.ts"
import { fromStoredText, toStoredText } from "../stored-text.ts"
import { nameFinished, removeWithCompanions } from "../upkeep/database-file.ts"
import { requireFree } from "../upkeep/restore.ts"
import { quoted } from "../upkeep/soundness.ts"
import type { MovedRow, MovedTable, MovedValue } from "./moved-tables.ts"
import { PAGE_ROWS, rowsThatFit, type StoreEnd, type TargetEnd } from "./store-end.ts"

const COPY_TABLE = "unfinished_copy"

/** A file that is read. */
export class SqliteEnd implements StoreEnd {
  protected readonly database: Database
  readonly #cold: ColdLines
  #isClosed = false

  constructor(file: string) {
    this.database = openDatabase(file)
    this.#cold = new ColdLines((sql, values) => this.database.get(sql, values) ?? [])
  }

  async fingerprint(): Promise<string> {
    const [identity, event, audit] =
      this.database.get(
        `SELECT (SELECT value FROM store_marks WHERE name = 'identity'), (SELECT max(id) FROM events), (SELECT max(id) FROM audit)`,
        [],
      ) ?? []
    return `sqlite ${[identity, event, audit].map((value) => Number(value ?? 0)).join(" ")}`
  }

  async page(table: MovedTable, after: readonly MovedValue[] | undefined): Promise<readonly MovedRow[]> {
    const { from, values } = placeOf(table, after)
    const lengths = table.long.map((column) =>
      table.name === "events" ? LINE_BYTES : `coalesce(octet_length(${column}), 0)`,
    )
    const sizes = this.database.all(`SELECT ${lengths.join(" + ") || "0"} ${from} LIMIT ${PAGE_ROWS}`, values)
    if (sizes.length === 0) return []
    const columns = table.columns.map(([column]) => quoted(column)).join(", ")
    const most = rowsThatFit(sizes.map(([size]) => Number(size)))
    return this.database
      .all(`SELECT ${columns} ${from} LIMIT ?`, [...values, most])
      .map((row) => this.#moved(table, row))
  }

  async count(table: MovedTable): Promise<number> {
    return Number(this.database.get(`SELECT count(*) FROM ${table.sqliteRows}`, [])?.[0] ?? 0)
  }

  async close(): Promise<void> {
    if (!this.#isClosed) this.database.close()
    this.#isClosed = true
  }

  #moved(table: MovedTable, row: SqlRow): MovedRow {
    const entries = table.columns.map(([column, type], at) => {
      const value = row[at] ?? null
      if (value === null) return [column, null]
      if (type === "boolean") return [column, value === 1]
      if (type !== "text") return [column, Number(value)]
      if (column === "key") return [column, fromStoredKey(String(value))]
      return [column, table.name === "events" && column === "line" ? this.#line(row) : fromStoredText(value)]
    })
    return table.refine(Object.fromEntries(entries))
  }

  /** `row` begins with its log and its number. */
  #line(row: SqlRow): string {
    const line = row.at(-1)
    if (typeof line !== "number") return fromStoredText(line)
    const [log, seq] = [Number(row[0]), Number(row[1])]
    return this.#cold.lines(log, [seq]).get(seq) ?? ""
  }
}

/** A new file, under another name until all is in it. */
export class NewSqliteEnd extends SqliteEnd implements TargetEnd {
  readonly #file: string
  readonly #partial: string

  constructor(file: string) {
    requireFree(file, "--data")
    const partial = `${file}-unfinished-copy`
    super(partial)
    this.#file = file
    this.#partial = partial
    migrate(this.database)
  }

  async begun(): Promise<string | undefined> {
    const isThere = this.database.get("SELECT 1 FROM sqlite_schema WHERE name = ?", [COPY_TABLE]) !== undefined
    return isThere ? String(this.database.get(`SELECT source FROM ${COPY_TABLE}`, [])?.[0]) : undefined
  }

  async begin(fingerprint: string): Promise<void> {
    const tables = ["log_sessions", "events", "event_keys", "sessions", "asks", "seen_calls", "messages", "tokens"]
    const others = ["grants", "audit", "policies", "rule_uses", "read_marks", "documents"]
    this.database.exec("BEGIN IMMEDIATE")
    for (const table of [...tables, ...others]) this.database.exec(`DELETE FROM ${table}`)
    this.database.exec(`DROP TABLE IF EXISTS ${COPY_TABLE}; CREATE TABLE ${COPY_TABLE} (source TEXT NOT NULL)`)
    this.database.run(`INSERT INTO ${COPY_TABLE} VALUES (?)`, [fingerprint])
    this.database.exec("COMMIT")
  }

  async last(table: MovedTable): Promise<readonly MovedValue[] | undefined> {
    const order = table.keys.map((key) => `${quoted(key)} DESC`).join(", ")
    const keys = table.keys.map(quoted).join(", ")
    const row = this.database.get(`SELECT ${keys} FROM ${table.sqliteRows} ORDER BY ${order} LIMIT 1`, [])
    return row?.map(Number)
  }

  async clear(table: MovedTable): Promise<void> {
    this.database.exec(`DELETE FROM ${table.name}`)
  }

  async add(table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
    this.database.exec("BEGIN IMMEDIATE")
    try {
      for (const row of rows) this.#addRow(table, row)
      this.database.exec("COMMIT")
    } catch (error) {
      this.database.exec("ROLLBACK")
      throw error
    }
  }

  async finish(): Promise<void> {
    // The numbers of events go on after the last one; those that are no event's are counted.
    this.database.exec(`
      INSERT INTO log_sessions (name) VALUES ('');
      UPDATE store_marks SET value = (SELECT coalesce(max(id), 0) FROM events) WHERE name = 'keyed-to';
      UPDATE store_marks SET value = (SELECT coalesce(max(id), 0) - count(*) FROM events) WHERE name = 'purged-events';
      DROP TABLE ${COPY_TABLE};
    `)
    this.database.all("PRAGMA wal_checkpoint(TRUNCATE)", [])
    await this.close()
    nameFinished(this.#partial, this.#file)
    removeWithCompanions(this.#partial)
  }

  #addRow(table: MovedTable, moved: MovedRow): void {
    if (table.name === "events") return this.#addEvent(moved)
    const { table: into, row } = table.toSqlite(moved)
    const columns = Object.keys(row)
    const values = Object.values(row).map((value, at) =>
      columns[at] === "line" && typeof value === "string" ? toStoredText(value) : value,
    )
    const marks = columns.map(() => "?").join(", ")
    this.database.run(`INSERT INTO ${into} (${columns.map(quoted).join(", ")}) VALUES (${marks})`, values)
  }

  #addEvent({ log, seq, id, at, origin, by, key, line }: MovedRow): void {
    const named = typeof key === "string" ? storedKey(key) : null
    const values: SqlValue[] = [Number(id), Number(log), Number(seq), Number(at), String(origin), textOrNull(by), named]
    this.database.run(
      "INSERT INTO events (id, session, seq, at, origin, by, key, line) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      [...values, toStoredText(String(line))],
    )
    if (typeof key !== "string") return
    const slot = [Number(log), keySlot(key), Number(seq)]
    this.database.run("INSERT OR IGNORE INTO event_keys (session, slot, seq) VALUES (?, ?, ?)", slot)
  }
}

function placeOf(table: MovedTable, after: readonly MovedValue[] | undefined) {
  const keys = table.keys.map(quoted).join(", ")
  const marks = table.keys.map(() => "?").join(", ")
  const where = after === undefined ? "" : `WHERE (${keys}) > (${marks})`
  const values = (after ?? []).map((value): SqlValue => (typeof value === "boolean" ? Number(value) : value))
  return { from: `FROM ${table.sqliteRows} ${where} ORDER BY ${keys}`, values }
}

function textOrNull(value: MovedValue | undefined): string | null {
  return typeof value === "string" ? value : null
}
