import { dirname, join } from "node:path"
import type { StoreSize } from "@signalbox/protocol/hub-api"
import { Backtests } from "./backtest.ts"
import { Checkpointer } from "./checkpoint.ts"
import type { ClusterStore } from "./cluster-store.ts"
import { type ColdBytes, Compression, type CompressionTimes } from "./compression.ts"
import { type Database, openDatabase } from "./database.ts"
import type { Directory } from "./directory.ts"
import type { EventLog } from "./event-log.ts"
import { canShrinkNow, convertIfSmall, type FileSize, fileSize, shrinkSome } from "./file-size.ts"
import { Journal, type JournalOptions } from "./journal.ts"
import { migrate } from "./migrations/index.ts"
import { Purger } from "./purger.ts"
import { Search } from "./search.ts"
import { SqliteDirectory } from "./sqlite-directory.ts"
import { SqliteEventLog } from "./sqlite-event-log.ts"
import { checkWriteAheadLog } from "./wal-check.ts"

/** These are told to the one who opens a store. */
export interface Watched extends JournalOptions {
  /** The rest of purged sessions could not be deleted now. It is tried again. */
  readonly onPurgeTrouble?: (error: unknown) => void
  /** Cold sessions could not be compressed now. It is tried again. */
  readonly onCompressionTrouble?: (error: unknown) => void
}

export interface StoreOptions extends Watched {
  readonly file: string
  /** For tests, which cannot wait until a session is cold. */
  readonly compression?: Partial<CompressionTimes>
}

/** Everything durable, and the search index beside it, which can be made anew. What is written to log and directory in one tick is one transaction. */
export interface Store {
  readonly log: EventLog
  readonly directory: Directory
  readonly search: Search
  readonly backtests: Backtests
  readonly journal: Pick<Journal, "isStalled" | "room" | "stopWaiting">
  /** Deletes what purged sessions leave behind. */
  readonly purger: Purger
  /** Present where hubs can share the database. Somebody must close it. */
  openCluster?(): Promise<ClusterStore>
  /** The epoch under which this hub writes a session, where hubs share the database. */
  readonly epochOf?: (session: string) => number | undefined
  /** Absent where the database compresses by itself. */
  readonly compression?: { readonly bytes: ColdBytes }
  size(): MeasuredSize | Promise<MeasuredSize>
  /** Writes what waits. Later writes are refused. */
  close(): Promise<void>
}

/** In one file. */
export interface SqliteStore extends Store {
  readonly compression: Compression
  readonly journal: Journal
  size(): MeasuredSize
}

export type MeasuredSize = FileSize & Pick<StoreSize, "events">

/** Somebody must close it. */
export function openStore({ file, ...options }: StoreOptions): SqliteStore {
  checkWriteAheadLog(file)
  const database = openDatabase(file)
  try {
    migrate(database)
    convertIfSmall(database)
    return assemble(database, file, options)
  } catch (error) {
    database.close()
    throw error
  }
}

function assemble(database: Database, file: string, options: Omit<StoreOptions, "file">): SqliteStore {
  const journal = new Journal(database, {
    ...options,
    onCommitted: (commit) => {
      options.onCommitted?.(commit)
      checkpointer.noteCommit(commit.bytes)
      compression.noteCommit(commit)
      search.wake()
    },
  })
  const checkpointer = new Checkpointer({ database, file, hold: () => journal.hold() })
  const log = new SqliteEventLog(database, journal)
  const directory = new SqliteDirectory(database, journal)
  const indexFile = join(dirname(file), "search.db")
  const search = new Search({ logFile: file, indexFile })
  const backtests = new Backtests(file)
  const shrink = async () =>
    canShrinkNow(database) && journal.write({ run: () => shrinkSome(database), refusable: true })
  const forget = async () => {
    const numbers = log.purged.empty()
    if (numbers.length === 0) return false
    await search.forget(numbers)
    await journal.write({ run: () => log.purged.end(numbers), refusable: true })
    return true
  }
  const purger = new Purger({
    steps: [() => directory.purgeSome(), () => log.purgeSome()],
    shrink,
    forget,
    onTrouble: options.onPurgeTrouble,
  })
  const compression = new Compression({
    database,
    journal,
    file,
    times: options.compression,
    onTrouble: options.onCompressionTrouble,
  })
  let closing: Promise<void> | undefined
  const close = async () => {
    const purged = purger.close()
    // Those who wait for it are told at once.
    const searched = search.close()
    journal.close()
    await compression.close()
    await backtests.close()
    await searched
    await purged
    await checkpointer.close()
    emptyWriteAheadLog(database)
    database.close()
  }
  const size = () => ({ ...fileSize(database, file, indexFile), events: countEvents(database) })
  const parts = { log, directory, search, backtests, compression, journal, purger, size }
  return { ...parts, close: () => (closing ??= close()) }
}

/** Events are numbered as they come, and numbers that are gone are counted: no table is gone through for it. */
function countEvents(database: Database): number {
  const [events] = database.get(
    "SELECT coalesce((SELECT max(id) FROM events), 0) - value FROM store_marks WHERE name = 'purged-events'",
    [],
  ) ?? [0]
  return Number(events)
}

/** A backup that reads on keeps the log from being emptied: whoever stops the hub does not wait for it. */
const EMPTYING_TIMEOUT_MS = 500

/** The driver leaves it to the next start, which would have to read all of it first. */
function emptyWriteAheadLog(database: Database): void {
  try {
    database.exec(`PRAGMA busy_timeout = ${EMPTYING_TIMEOUT_MS}`)
    database.all("PRAGMA wal_checkpoint(TRUNCATE)", [])
  } catch {
    // The disk is in trouble: what was committed is safe where it is.
  }
}
