import { describe } from "vitest"
import { hasPostgres } from "../../../../test/postgres/server.ts"
import { describeDirectoryContract, describeEventLogContract } from "../../src/testing/index.ts"
import { openPostgres } from "./postgres-database.ts"

describe.runIf(hasPostgres)("PostgreSQL", () => {
  describeEventLogContract("PostgreSQL", async () => {
    const setup = await openPostgres()
    return { log: setup.store.log, dispose: () => setup.dispose(), reopen: async () => (await setup.reopen()).log }
  })

  describeDirectoryContract("PostgreSQL", async () => {
    const setup = await openPostgres()
    const reopen = async () => (await setup.reopen()).directory
    return { directory: setup.store.directory, dispose: () => setup.dispose(), reopen }
  })
})
