import type { Pool, QueryArrayConfig, QueryArrayResult } from "pg"
import { postgresFailure } from "./connection.ts"
import { toStored } from "./stored-text.js"

/** Arrays of text are written out by the driver; others are a Buffer (`binary-array.ts`). */
export type SqlValue = string | number | boolean | null | Buffer | readonly string[]

/** Columns in the order of the SELECT. Numbers of 64 bits come as text. */
export type SqlRow = readonly SqlCell[]
type SqlCell = string | number | boolean | null

export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

export interface Written {
  readonly rows: readonly SqlRow[]
  /** Rows that the statement itself changed or gave, without those of its WITH parts. */
  readonly changed: number
}

/** The texts are constants of this package, so there are few: each connection prepares one once, under its name. */
const NAMES = new Map<string, string>()

function nameOf(text: string): string {
  const known = NAMES.get(text)
  if (known !== undefined) return known
  const name = `signalbox ${NAMES.size + 1}`
  NAMES.set(text, name)
  return name
}

interface Connection {
  query(config: QueryArrayConfig): Promise<QueryArrayResult<SqlCell[]>>
}

export async function send(to: Connection, { text, values }: Statement): Promise<Written> {
  const { rows, rowCount } = await to.query({
    name: nameOf(text),
    text,
    values: [...values],
    rowMode: "array",
  })
  return { rows, changed: rowCount ?? 0 }
}

export function storedOrNull(text: string | null | undefined): string | null {
  return text == null ? null : toStored(text)
}

/** Reads what was committed. */
export class Reader {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  async all(text: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    try {
      return (await send(this.#pool, { text, values })).rows
    } catch (error) {
      throw postgresFailure(error, "The database cannot be read: look at its server and its address")
    }
  }

  async get(text: string, values: readonly SqlValue[]): Promise<SqlRow | undefined> {
    return (await this.all(text, values))[0]
  }
}
