import { randomUUID } from "node:crypto"
import type { Pool } from "pg"
import { Backtests } from "../backtest.ts"
import type { MeasuredSize, Store, Watched } from "../open-store.ts"
import { Purger } from "../purger.ts"
import { ClusterTables } from "./cluster-tables.ts"
import { connectWriter, openPool, postgresFailure } from "./connection.ts"
import { Fences } from "./fences.ts"
import { requirePostgres } from "./postgres-check.ts"
import { PostgresDirectory } from "./postgres-directory.ts"
import { PostgresEventLog } from "./postgres-event-log.ts"
import { PostgresJournal } from "./postgres-journal.ts"
import { openPostgresSearch } from "./postgres-search.ts"
import { migratePostgres } from "./schema.ts"
import { Reader } from "./statement.ts"

export interface PostgresStoreOptions extends Watched {
  readonly url: string
  /** Other hubs write it too, each its own sessions. `onMoved`: another hub has claimed one, and a write of this one was refused. */
  readonly shared?: { readonly onMoved: (session: string, epoch: number) => void }
}

/** Asked for by every scrape of the metrics, and twice: it is not counted each time. */
const SIZE_MS = 2_000
/** Hubs that were gone for so long have no transaction under way, and start nothing. */
const FORGET_OLD = `
  DELETE FROM writers WHERE seen_at < now() - interval '1 day';
  DELETE FROM request_keys WHERE claimed_at < now() - interval '1 day'`
/** Steps go through whole tables, and another hub may be at them. */
const UPDATE_TIMEOUT_MS = 30 * 60_000
/** A place is renewed every few seconds: an answer that takes longer comes too late. */
const CLUSTER = { max: 3, timeoutMs: 4_000 }
/** A connection for the renewal alone: nothing else that hubs share may hold it up. */
const BEATS = { ...CLUSTER, max: 1 }
const SIZE = `
  SELECT (SELECT coalesce(sum(last_seq - deleted_to), 0) FROM logs),
    coalesce(sum(pg_total_relation_size(pg_class.oid)) FILTER (WHERE relname NOT LIKE 'search%'), 0),
    coalesce(sum(pg_total_relation_size(pg_class.oid)) FILTER (WHERE relname LIKE 'search%'), 0)
  FROM pg_class WHERE relnamespace = current_schema()::text::regnamespace AND relkind = 'r'`

/** Everything durable in a PostgreSQL database, which nobody else writes as long as it is open. Somebody must close it. */
export async function openPostgresStore({ url, shared, ...options }: PostgresStoreOptions): Promise<Store> {
  await requirePostgres(url)
  let store: Store | undefined
  const fences = shared && new Fences(randomUUID())
  const sharing = shared && fences ? { fences, onMoved: shared.onMoved } : {}
  const journal = new PostgresJournal({ ...options, ...sharing, url, onEvents: (logs) => store?.search.wake(logs) })
  await journal.open()
  try {
    await bringUpToDate(url)
    const pool = await openPool(url)
    journal.isAfterSharing = fences === undefined && (await wasShared(new Reader(pool)))
    store = assemble({ journal, pool, url, fences, onPurgeTrouble: options.onPurgeTrouble })
    return store
  } catch (error) {
    await journal.close()
    throw error
  }
}

async function bringUpToDate(url: string): Promise<void> {
  try {
    const client = await connectWriter(url, "signalbox start", UPDATE_TIMEOUT_MS)
    try {
      await migratePostgres(client)
      await client.query(FORGET_OLD)
    } finally {
      await client.end()
    }
  } catch (error) {
    throw postgresFailure(error, "The database cannot be brought up to date: look at its server and its address")
  }
}

async function wasShared(reader: Reader): Promise<boolean> {
  return (await reader.get("SELECT EXISTS (SELECT FROM logs WHERE epoch <> 0)", []))?.[0] === true
}

interface Parts {
  readonly fences: Fences | undefined
  readonly journal: PostgresJournal
  readonly pool: Pool
  readonly url: string
  readonly onPurgeTrouble: Watched["onPurgeTrouble"]
}

function assemble({ journal, pool, url, fences, onPurgeTrouble }: Parts): Store {
  const reader = new Reader(pool)
  const log = new PostgresEventLog(journal, reader)
  const directory = new PostgresDirectory(journal, reader)
  const search = openPostgresSearch(url)
  const backtests = new Backtests(url)
  const forget = async () => {
    const numbers = await log.emptyLogs()
    if (numbers.length === 0) return false
    await search.forget(numbers)
    await log.endLogs(numbers)
    return true
  }
  const purger = new Purger({
    steps: [() => directory.purgeSome(), () => log.purgeSome()],
    forget,
    onTrouble: onPurgeTrouble,
  })
  let closing: Promise<void> | undefined
  const close = async () => {
    const purged = purger.close()
    // Those who wait for it are told at once.
    const searched = search.close()
    await journal.close()
    await backtests.close()
    await searched
    await purged
    await pool.end()
  }
  return {
    log,
    directory,
    search,
    backtests,
    journal,
    purger,
    size: sizeOf(reader),
    ...(fences && { epochOf: (session: string) => fences.epochOf(session) }),
    openCluster: async () => {
      const [own, beats] = [await openPool(url, CLUSTER), await openPool(url, BEATS)]
      return new ClusterTables({ pool: own, beats, journal, fences: fences ?? new Fences(randomUUID()) })
    },
    close: () => (closing ??= close()),
  }
}

/** Room of deleted rows is used again; how much of it there is nobody counts, and its write-ahead log is the server's own. */
function sizeOf(reader: Reader): () => Promise<MeasuredSize> {
  let known: { readonly at: number; readonly size: Promise<MeasuredSize> } | undefined
  const measure = async () => {
    const [events, bytes, searchBytes] = (await reader.get(SIZE, [])) ?? []
    const database = { bytes: Number(bytes), freeBytes: 0, walBytes: 0, searchBytes: Number(searchBytes) }
    return { ...database, canShrink: true, events: Number(events) }
  }
  return () => {
    const now = performance.now()
    if (known === undefined || now - known.at > SIZE_MS) known = { at: now, size: measure() }
    return known.size
  }
}
