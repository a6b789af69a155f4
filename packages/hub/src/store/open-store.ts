import { dirname, join } from "node:path"
import { Backtests } from "./backtest.ts"
import { Checkpointer } from "./checkpoint.ts"
import { type Database, openDatabase } from "./database.ts"
import type { Directory } from "./directory.ts"
import type { EventLog } from "./event-log.ts"
import { Journal, type JournalOptions } from "./journal.ts"
import { migrate } from "./migrations/index.ts"
import { Search } from "./search.ts"
import { SqliteDirectory } from "./sqlite-directory.ts"
import { SqliteEventLog } from "./sqlite-event-log.ts"
import { checkWriteAheadLog } from "./wal-check.ts"

export interface StoreOptions extends JournalOptions {
  readonly file: string
}

/** Everything durable, in one file, and the search index beside it, which can be made anew. What is written to log and directory in one tick is one transaction. */
export interface Store {
  readonly log: EventLog
  readonly directory: Directory
  readonly search: Search
  readonly backtests: Backtests
  readonly journal: Journal
  /** Writes what waits. Later writes are refused. */
  close(): Promise<void>
}

/** Somebody must close it. */
export function openStore({ file, ...options }: StoreOptions): Store {
  checkWriteAheadLog(file)
  const database = openDatabase(file)
  try {
    migrate(database)
    return assemble(database, file, options)
  } catch (error) {
    database.close()
    throw error
  }
}

function assemble(database: Database, file: string, options: JournalOptions): Store {
  const journal = new Journal(database, {
    ...options,
    onCommitted: (commit) => {
      options.onCommitted?.(commit)
      checkpointer.noteCommit(commit.bytes)
      search.wake()
    },
  })
  const checkpointer = new Checkpointer({ database, file, hold: () => journal.hold() })
  const log = new SqliteEventLog(database, journal)
  const directory = new SqliteDirectory(database, journal)
  const search = new Search({ logFile: file, indexFile: join(dirname(file), "search.db") })
  const backtests = new Backtests(file)
  let closing: Promise<void> | undefined
  const close = async () => {
    journal.close()
    await backtests.close()
    await search.close()
    await checkpointer.close()
    emptyWriteAheadLog(database)
    database.close()
  }
  return { log, directory, search, backtests, journal, close: () => (closing ??= close()) }
}

/** The driver leaves it to the next start, which would have to read all of it first. */
function emptyWriteAheadLog(database: Database): void {
  try {
    database.all("PRAGMA wal_checkpoint(TRUNCATE)", [])
  } catch {
    // The disk is in trouble: what was committed is safe where it is.
  }
}
