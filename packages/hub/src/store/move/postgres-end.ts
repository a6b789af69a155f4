import type { Client } from "pg"
import { connectWriter, SCHEMA, shownUrl } from "../postgres/connection.ts"
import { keyId } from "../postgres/event-batch.ts"
import { COPY_TABLE, startFailure } from "../postgres/postgres-check.ts"
import { migratePostgres } from "../postgres/schema.ts"
import { fromStored, toStored } from "../postgres/stored-text.js"
import { WriterConnection } from "../postgres/writer-connection.ts"
import type { MovedRow, MovedTable, MovedValue } from "./moved-tables.ts"
import { notEmpty, PAGE_ROWS, rowsThatFit, type TargetEnd } from "./store-end.ts"

/** Tables whose numbers the database gives, and the columns that have them. */
const NUMBERED = {
  logs: "number",
  events: "id",
  sessions: "number",
  asks: "number",
  seen_calls: "number",
  messages: "number",
  tokens: "number",
  grants: "number",
  audit: "id",
}

/** A large table takes its time to be counted. */
const TIMEOUT_MS = 60 * 60_000

/** A PostgreSQL database that is read, or that a store is moved to. */
export class PostgresEnd implements TargetEnd {
  readonly #client: Client
  readonly #lock: WriterConnection
  readonly #url: string

  private constructor(client: Client, lock: WriterConnection, url: string) {
    this.#client = client
    this.#lock = lock
    this.#url = url
  }

  /** Refuses one that a hub uses. */
  static async open(url: string): Promise<PostgresEnd> {
    const lock = new WriterConnection(url, `${SCHEMA} move`)
    try {
      await lock.open()
      return new PostgresEnd(await connectWriter(url, `${SCHEMA} move`, TIMEOUT_MS), lock, url)
    } catch (error) {
      lock.cut()
      throw startFailure(error, url)
    }
  }

  async fingerprint(): Promise<string> {
    const [row = []] = await this.#rows(
      "SELECT (SELECT identity FROM store), (SELECT sum(last_seq) FROM logs), (SELECT max(id) FROM audit)",
    )
    return `postgres ${row.map((value) => value ?? 0).join(" ")}`
  }

  async page(table: MovedTable, after: readonly MovedValue[] | undefined): Promise<readonly MovedRow[]> {
    const keys = table.keys.join(", ")
    const where = after === undefined ? "" : `WHERE (${keys}) > (${table.keys.map((_, at) => `$${at + 1}`).join(", ")})`
    const values = (after ?? []).map(stored)
    const lengths = table.long.map((column) =>
      table.name === "events" ? "bytes" : `coalesce(octet_length(${column}), 0)`,
    )
    const named = table.name === "logs" ? `${where === "" ? "WHERE" : `${where} AND`} name IS NOT NULL` : where
    const from = `FROM ${table.name} ${named} ORDER BY ${keys}`
    const sizes = await this.#rows(`SELECT ${lengths.join(" + ") || "0"} ${from} LIMIT ${PAGE_ROWS}`, values)
    if (sizes.length === 0) return []
    const most = rowsThatFit(sizes.map(([size]) => Number(size)))
    const columns = table.columns.map(([column]) => column).join(", ")
    return (await this.#rows(`SELECT ${columns} ${from} LIMIT ${most}`, values)).map((row) => moved(table, row))
  }

  async count({ name }: MovedTable): Promise<number> {
    const where = name === "logs" ? "WHERE name IS NOT NULL" : ""
    const [row] = await this.#rows(`SELECT count(*) FROM ${name} ${where}`)
    return Number(row?.[0] ?? 0)
  }

  async begun(): Promise<string | undefined> {
    if (await this.#has(COPY_TABLE)) {
      const [row] = await this.#rows(`SELECT source FROM ${SCHEMA}.${COPY_TABLE}`)
      return String(row?.[0] ?? "")
    }
    if (!(await this.#has("store"))) return undefined
    const [row] = await this.#rows(
      "SELECT EXISTS (SELECT FROM logs), EXISTS (SELECT FROM sessions LIMIT 1), EXISTS (SELECT FROM tokens LIMIT 1)",
    )
    if (row?.includes(true) === true) throw notEmpty(shownUrl(this.#url))
    return undefined
  }

  /** Drops only tables of our own, which are empty or an unfinished copy of the same store. */
  async begin(fingerprint: string): Promise<void> {
    const isOurs = (await this.#has("store")) || (await this.#has(COPY_TABLE))
    if (isOurs) await this.#client.query(`DROP SCHEMA ${SCHEMA} CASCADE`)
    await this.#client.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`)
    await this.#client.query(`CREATE TABLE ${SCHEMA}.${COPY_TABLE} (source text NOT NULL)`)
    await this.#client.query(`INSERT INTO ${SCHEMA}.${COPY_TABLE} VALUES ($1)`, [fingerprint])
    await migratePostgres(this.#client)
  }

  async last(table: MovedTable): Promise<readonly MovedValue[] | undefined> {
    const order = table.keys.map((key) => `${key} DESC`).join(", ")
    const [row] = await this.#rows(`SELECT ${table.keys.join(", ")} FROM ${table.name} ORDER BY ${order} LIMIT 1`)
    return row?.map(Number)
  }

  async clear({ name }: MovedTable): Promise<void> {
    await this.#client.query(`DELETE FROM ${name}`)
  }

  async add(table: MovedTable, rows: readonly MovedRow[]): Promise<void> {
    const more: [name: string, type: string, (row: MovedRow) => unknown][] =
      table.name === "events"
        ? [
            ["bytes", "int", ({ line = "" }) => Buffer.byteLength(String(line))],
            ["key_id", "uuid", ({ key = null }) => (key === null ? null : uuidOf(toStored(String(key))))],
          ]
        : []
    const own = table.columns.map(([name, type]) => [name, type, (row: MovedRow) => stored(row[name] ?? null)] as const)
    const columns = [...own, ...more]
    const names = columns.map(([name]) => name).join(", ")
    const arrays = columns.map(([, type], at) => `$${at + 1}::${type}[]`).join(", ")
    await this.#client.query(
      `INSERT INTO ${table.name} (${names}) OVERRIDING SYSTEM VALUE SELECT ${names} FROM unnest(${arrays}) AS moved (${names})`,
      columns.map(([, , valueOf]) => rows.map(valueOf)),
    )
  }

  async finish(): Promise<void> {
    for (const [table, column] of Object.entries(NUMBERED)) {
      const next = `(SELECT coalesce(max(${column}), 0) + 1 FROM ${table})`
      await this.#client.query(
        `SELECT setval(pg_get_serial_sequence('${SCHEMA}.${table}', '${column}'), ${next}, false)`,
      )
    }
    await this.#client.query(`DROP TABLE ${COPY_TABLE}`)
    await this.#client.query("ANALYZE")
  }

  async close(): Promise<void> {
    await this.#client.end()
    await this.#lock.close()
  }

  async #has(table: string): Promise<boolean> {
    const [row] = await this.#rows("SELECT to_regclass($1) IS NOT NULL", [`${SCHEMA}.${table}`])
    return row?.[0] === true
  }

  async #rows(text: string, values: readonly unknown[] = []): Promise<readonly (readonly MovedValue[])[]> {
    const { rows } = await this.#client.query<MovedValue[]>({ text, values: [...values], rowMode: "array" })
    return rows
  }
}

function stored(value: MovedValue): MovedValue {
  return typeof value === "string" ? toStored(value) : value
}

function moved(table: MovedTable, row: readonly MovedValue[]): MovedRow {
  const entries = table.columns.map(([column, type], at): [string, MovedValue] => {
    const value = row[at] ?? null
    if (value === null) return [column, null]
    if (type === "boolean") return [column, value === true]
    return [column, type === "text" ? fromStored(String(value)) : Number(value)]
  })
  return table.refine(Object.fromEntries(entries))
}

function uuidOf(storedKey: string): string {
  return Buffer.from(keyId(storedKey)).toString("hex")
}
