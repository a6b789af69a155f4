import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { openDatabase } from "../../src/store/database.ts"
import { openStage } from "../clients/stage.ts"

const COUNT = 20

it("[HS170] a session is in the store when its maker is told, and ended there when whoever stopped it is told", async () => {
  const { hub, folder } = await openStage()
  const database = openDatabase(join(folder, "signalbox.db"))
  onTestFinished(() => database.close())
  const stateOf = (id: string) => {
    const [record] = database.get("SELECT record FROM sessions WHERE id = ?", [id]) ?? []
    return typeof record === "string" ? JSON.parse(record).state : record
  }
  const caller = { role: "admin", name: "admin", tokenId: hub.admin.tokenId, sessionId: null } as const
  // Many at once: their writes share commits in every possible way.
  const made = await Promise.all(
    Array.from({ length: COUNT }, async () => {
      const { id } = await hub.core.createSession({ agent: "external" }, caller)
      return { id, state: stateOf(id) }
    }),
  )
  expect(made.map(({ state }) => state)).toEqual(made.map(() => "starting"))
  const ended = await Promise.all(
    made.map(async ({ id }) => {
      await hub.core.endSession(id, caller)
      return stateOf(id)
    }),
  )
  expect(ended).toEqual(ended.map(() => "ended"))
})
