import { join } from "node:path"
import LibsqlDatabase from "libsql"
import { makeShrinkable } from "./file-size.ts"
import { keepPrivate } from "./search/private-file.js"
import { storeFailure } from "./store-failure.ts"

export type SqlValue = string | number | null | Uint8Array

/** Columns in the order of the SELECT: every reader names what it takes from which place. */
export type SqlRow = readonly SqlValue[]

/**
 * The store's needs of SQLite, and all it may use. Synchronous: a transaction is opened and committed within one turn of
 * the event loop, so no read ever sees half of one.
 */
export interface Database {
  /** One or several statements without parameters or results. */
  exec(sql: string): void
  /** How many rows were changed. */
  run(sql: string, values: readonly SqlValue[]): number
  get(sql: string, values: readonly SqlValue[]): SqlRow | undefined
  all(sql: string, values: readonly SqlValue[]): readonly SqlRow[]
  close(): void
}

const CACHE_KIB = 32 * 1024
export const BUSY_TIMEOUT_MS = 5000

/**
 * WAL with `synchronous=NORMAL`: what was committed survives the death of this process, not a power cut; who needs more
 * commits with FULL. No automatic checkpoint: it would sync inside somebody's commit (see `checkpoint.ts`). References are
 * not checked: the one there is, of events to their session, holds by the way they are written, and would be looked up for
 * every event. Deleted rows are overwritten where their page is written anyway: freed pages are not, which would write each once more.
 */
const SETTINGS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  PRAGMA cache_size = -${CACHE_KIB};
  PRAGMA wal_autocheckpoint = 0;
  PRAGMA secure_delete = FAST;
`

/** The file in which the hub of a data directory keeps everything. */
export function databaseIn(dataDirectory: string): string {
  return join(dataDirectory, "signalbox.db")
}

/** When the last backup of a data directory was made. Whoever makes one writes it, and the hub's metrics tell it. */
export function lastBackupIn(dataDirectory: string): string {
  return join(dataDirectory, "last-backup")
}

/** Somebody must close it. */
export function openDatabase(file: string): Database {
  keepPrivate(file)
  try {
    const database = new LibsqlStore(new LibsqlDatabase(file))
    makeShrinkable(database)
    database.exec(SETTINGS)
    return database
  } catch (error) {
    throw storeFailure(
      error,
      `The database ${file} cannot be opened: check that its folder is there and may be written`,
    )
  }
}

/** A file that is read, checked or copied, and keeps the journal mode it has. Somebody must close it. */
export function openAsIs(file: string): Database {
  const database = new LibsqlStore(new LibsqlDatabase(file))
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  return database
}

/**
 * Statements are prepared once, by their text: the texts are constants of this package, so there are few. One that failed is
 * prepared anew: the driver may tell its error again, whatever it is asked next.
 */
class LibsqlStore implements Database {
  readonly #connection: LibsqlDatabase.Database
  readonly #writers = new Map<string, LibsqlDatabase.Statement>()
  readonly #readers = new Map<string, LibsqlDatabase.Statement>()

  constructor(connection: LibsqlDatabase.Database) {
    this.#connection = connection
  }

  exec(sql: string): void {
    this.#connection.exec(sql)
  }

  run(sql: string, values: readonly SqlValue[]): number {
    let statement = this.#writers.get(sql)
    if (statement === undefined) {
      statement = this.#connection.prepare(sql)
      this.#writers.set(sql, statement)
    }
    try {
      return statement.run(values).changes
    } catch (error) {
      this.#writers.delete(sql)
      throw error
    }
  }

  get(sql: string, values: readonly SqlValue[]): SqlRow | undefined {
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `raw` makes rows arrays of SQLite's own types
      return this.#reader(sql).get(values) as SqlRow | undefined
    } catch (error) {
      this.#readers.delete(sql)
      throw error
    }
  }

  all(sql: string, values: readonly SqlValue[]): readonly SqlRow[] {
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      return this.#reader(sql).all(values) as SqlRow[]
    } catch (error) {
      this.#readers.delete(sql)
      throw error
    }
  }

  close(): void {
    this.#writers.clear()
    this.#readers.clear()
    this.#connection.close()
  }

  #reader(sql: string): LibsqlDatabase.Statement {
    let statement = this.#readers.get(sql)
    if (statement === undefined) {
      // Arrays, not objects: faster, and an object would carry the driver's own `_metadata`.
      statement = this.#connection.prepare(sql).raw()
      this.#readers.set(sql, statement)
    }
    return statement
  }
}
