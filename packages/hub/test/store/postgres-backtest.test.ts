import { describe, expect, it } from "vitest"
import { hasPostgres, openTestDatabase, testServer } from "../../../../test/postgres/server.ts"
import type { Store } from "../../src/store/open-store.ts"
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts"
import { describeBacktestContract } from "../../src/testing/index.ts"
import { EMPTY, policyOf, record, test } from "../../src/testing/past-requests.ts"
import { type StoreSetup, withStoreOf } from "../../src/testing/store-setup.ts"

/** A database for each test: one of them has two stores at once. */
async function openOwn(): Promise<StoreSetup> {
  const database = await openTestDatabase()
  const first = await openPostgresStore({ url: database.url })
  let store: Store = first
  return {
    store: first,
    async reopen() {
      await store.close()
      store = await openPostgresStore({ url: database.url })
      return store
    },
    async dispose() {
      await store.close()
      await database.dispose()
    },
  }
}

if (hasPostgres) describeBacktestContract("PostgreSQL", openOwn)

describe.runIf(hasPostgres)("backtests on PostgreSQL", () => {
  it("[PQ3] a test is refused while the database is away, and runs when it is back", () =>
    withStoreOf(openOwn)(async (store) => {
      await record(store, [{ command: "ls" }, { command: "make" }])
      const proposed = policyOf({ id: "all", effect: "allow", tool: "Bash" })
      const server = await testServer()
      await server.stop()
      await expect(test(store, { proposed, inForce: EMPTY })).rejects.toMatchObject({ code: "store/failed" })
      await server.startAgain()
      expect((await test(store, { proposed })).noLongerAsked.count).toBe(2)
    }))
})
