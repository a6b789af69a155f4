import { afterAll } from "vitest"
import { PostgresServer } from "../../scripts/postgres-server.mjs"
import { ensurePostgres } from "../../scripts/system-package.mjs"
import { quietPort } from "../quiet-port.ts"

/** Whether PostgreSQL can be tested with here. With CI=true it must be. */
export const hasPostgres = ensurePostgres() !== undefined

let server: Promise<PostgresServer> | undefined

afterAll(async () => {
  const started = await server?.catch(() => undefined)
  server = undefined
  await started?.dispose()
})

/** The server of this test file, started when it is first needed. */
export function testServer(): Promise<PostgresServer> {
  server ??= quietPort().then((port) => PostgresServer.start({ port }))
  return server
}

/** A new database. */
export async function openTestDatabase(): Promise<{ readonly url: string; dispose(): Promise<void> }> {
  const on = await testServer()
  const url = await on.createDatabase()
  const drop = () => on.query(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`)
  return { url, dispose: async () => void (await drop()) }
}
