import { HubError } from "../../errors.ts"
import { openStore, type Store } from "../open-store.ts"
import { openPostgresStore } from "../postgres/open-postgres-store.ts"
import { MOVED_TABLES, type MovedTable, type MovedValue } from "./moved-tables.ts"
import { PostgresEnd } from "./postgres-end.ts"
import { NewSqliteEnd, SqliteEnd } from "./sqlite-end.ts"
import { Digest, keyOf, type StoreEnd, type TargetEnd } from "./store-end.ts"

export interface MoveReport {
  readonly rows: Readonly<Record<string, number>>
  /** True if it went on with a copy that was interrupted. */
  readonly resumed: boolean
}

/** Rows that were copied and compared, of all of them twice. */
export type OnMoved = (done: number, total: number) => void

/** Copies the store in a file to a PostgreSQL database that is empty. Whoever calls holds the lock of the file's folder. */
export async function moveToPostgres(file: string, url: string, onMoved: OnMoved): Promise<MoveReport> {
  const target = await PostgresEnd.open(url)
  try {
    await settle(openStore({ file }))
    const source = new SqliteEnd(file)
    try {
      return await between(source, target, onMoved)
    } finally {
      await source.close()
    }
  } finally {
    await target.close()
  }
}

/** The other way round: to a file that is not there yet. */
export async function moveToSqlite(url: string, file: string, onMoved: OnMoved): Promise<MoveReport> {
  await (await PostgresEnd.open(url)).close()
  await settle(await openPostgresStore({ url }))
  const source = await PostgresEnd.open(url)
  try {
    const target = new NewSqliteEnd(file)
    try {
      return await between(source, target, onMoved)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Brings the source up to date, and deletes what was to be deleted. */
async function settle(store: Store): Promise<void> {
  store.purger.wake()
  await store.purger.settled()
  await store.close()
}

async function between(source: StoreEnd, target: TargetEnd, onMoved: OnMoved): Promise<MoveReport> {
  const fingerprint = await source.fingerprint()
  const begun = await target.begun()
  if (begun !== undefined && identityIn(begun) !== identityIn(fingerprint))
    throw new HubError("data/taken", "the target has an unfinished copy of another hub's data: name an empty one")
  // The store changed since: what was copied of it is of no use.
  if (begun !== fingerprint) await target.begin(fingerprint)
  const rows: Record<string, number> = {}
  for (const table of MOVED_TABLES) rows[table.name] = await source.count(table)
  const progress = new Progress(2 * Object.values(rows).reduce((sum, count) => sum + count, 0), onMoved)
  for (const table of MOVED_TABLES) await copy(table, { source, target, progress })
  for (const table of MOVED_TABLES) await compare(table, { source, target, progress })
  await target.finish()
  return { rows, resumed: begun === fingerprint }
}

/** The part of a fingerprint that stays the same. */
function identityIn(fingerprint: string): string {
  return fingerprint.split(" ").slice(0, 2).join(" ")
}

interface Move {
  readonly source: StoreEnd
  readonly target: TargetEnd
  readonly progress: Progress
}

class Progress {
  readonly #total: number
  readonly #onMoved: OnMoved
  #done = 0

  constructor(total: number, onMoved: OnMoved) {
    this.#total = total
    this.#onMoved = onMoved
  }

  add(rows: number): void {
    this.#done += rows
    this.#onMoved(Math.min(this.#done, this.#total), this.#total)
  }
}

async function copy(table: MovedTable, { source, target, progress }: Move): Promise<void> {
  if (!table.isNumbered) await target.clear(table)
  let after = table.isNumbered ? await target.last(table) : undefined
  if (after !== undefined) progress.add(await target.count(table))
  for (;;) {
    const rows = await source.page(table, after)
    const last = rows.at(-1)
    if (last === undefined) return
    await target.add(table, rows)
    progress.add(rows.length)
    after = keyOf(table, last)
  }
}

/** Both are read from the start: by their counts and hashes, events session by session. */
async function compare(table: MovedTable, { source, target, progress }: Move): Promise<void> {
  const ours = await digests(table, source, (rows) => progress.add(rows))
  const theirs = await digests(table, target, () => undefined)
  for (const group of new Set([...ours.keys(), ...theirs.keys()])) {
    const [one, other] = [ours.get(group) ?? new Digest(), theirs.get(group) ?? new Digest()]
    if (one.equals(other)) continue
    const what = table.name === "events" ? `the events of log ${group}` : table.name
    throw new HubError(
      "data/failed",
      `the copy differs in ${what} (${one.count} rows there, ${other.count} here), so it is not used: empty the target and start again`,
    )
  }
}

async function digests(table: MovedTable, end: StoreEnd, onRows: (rows: number) => void): Promise<Map<string, Digest>> {
  const groups = new Map<string, Digest>()
  let after: readonly MovedValue[] | undefined
  for (;;) {
    const rows = await end.page(table, after)
    const last = rows.at(-1)
    if (last === undefined) return groups
    for (const row of rows) {
      const group = table.name === "events" ? String(row["log"]) : ""
      const digest = groups.get(group) ?? new Digest()
      groups.set(group, digest)
      digest.take(table, row)
    }
    onRows(rows.length)
    after = keyOf(table, last)
  }
}
