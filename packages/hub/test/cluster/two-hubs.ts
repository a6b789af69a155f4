import { quietPort } from "../../../../test/quiet-port.ts"
import type { HubOptions } from "../../src/index.ts"
import { openStage, type Stage } from "../clients/stage.ts"
import { emptiedDatabase } from "../store/postgres-database.ts"

/** Two hubs on one database, in this process, and the database's address. */
export async function openTwoHubs(options: Partial<HubOptions> = {}): Promise<readonly [Stage, Stage, string]> {
  const store = await emptiedDatabase()
  return [await openBeside(store, options), await openBeside(store, options), store]
}

async function openBeside(store: string, options: Partial<HubOptions>): Promise<Stage> {
  const port = await quietPort()
  return openStage({ store, port, clusterUrl: `http://127.0.0.1:${port}`, ...options })
}
