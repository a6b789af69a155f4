import { openTestDatabase, testServer } from "../../../../test/postgres/server.ts"
import type { ClusterStore } from "../../src/store/cluster-store.ts"
import type { Store } from "../../src/store/open-store.ts"
import { openPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/open-postgres-store.ts"
import type { StoreSetup } from "../../src/testing/store-setup.ts"

let database: ReturnType<typeof openTestDatabase> | undefined

/** The one database of this test file, emptied: a new one for each test would take much longer. */
export async function emptiedDatabase(): Promise<string> {
  database ??= openTestDatabase()
  const { url } = await database
  const server = await testServer()
  const name = databaseOf(url)
  const tables = await server.query(
    "SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE schemaname = 'signalbox' AND tablename <> 'store'",
    [],
    name,
  )
  if (tables.length > 0)
    await server.query(`TRUNCATE ${tables.map((table) => table.name).join(", ")} RESTART IDENTITY`, [], name)
  return url
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** The tables in which hubs that share this database tell each other of themselves. Somebody must close them. */
export async function clusterOf(store: Store): Promise<ClusterStore> {
  const cluster = await store.openCluster?.()
  if (cluster === undefined) throw new Error("this store cannot be shared")
  return cluster
}

/** Rows that the server's owner finds in the database of an address. */
export async function rowsIn(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  return (await testServer()).query(sql, [], databaseOf(url))
}

/** A store that can be closed and opened again, as contract suites do. */
export async function openPostgres(options: Omit<PostgresStoreOptions, "url"> = {}): Promise<StoreSetup> {
  const url = await emptiedDatabase()
  const first = await openPostgresStore({ url, ...options })
  let store: Store = first
  return {
    store: first,
    async reopen() {
      await store.close()
      store = await openPostgresStore({ url, ...options })
      return store
    },
    dispose: () => store.close(),
  }
}
