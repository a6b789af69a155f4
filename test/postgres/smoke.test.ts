import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { Machine } from "../runner/runner-process.ts"
import { ASKING_TURNS, expectWhole, pendingAsk, WORDS } from "../runner/turns.ts"
import { hasPostgres, testServer } from "./server.ts"

let machine: Machine | undefined

afterEach(async () => {
  await machine?.dispose()
  machine = undefined
})

/** Every file in the data directory, as text. */
function filesOf(data: string): string {
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  return files.map((file) => readFileSync(join(file.parentPath, file.name), "latin1")).join("\n")
}

describe.runIf(hasPostgres)("a hub on PostgreSQL", () => {
  it("[PQ1] [PQ2] [PQ3] [PQ5] hub and database are killed in the middle of turns: nothing is lost, nothing is there twice", async () => {
    const server = await testServer()
    const on = await Machine.open({
      scenario: ASKING_TURNS,
      hubFlags: ["--store", await server.createDatabase()],
    })
    machine = on
    const { id } = await on.launch()
    await on.say(id, "speak")
    await on.isIn(id, "running")
    await on.hub.kill()
    await on.restartHub()
    await on.isIn(id, "idle")

    await on.say(id, "ask")
    const ask = await pendingAsk(on, id)
    await server.kill()
    const answer = () => on.hub.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" })
    expect(await answer()).toMatchObject({ status: 503, body: { error: { code: "store/failed" } } })
    await server.startAgain()
    expect((await pendingAsk(on, id)).id).toBe(ask.id)
    await expect.poll(async () => (await answer()).status, { timeout: 60_000, interval: 50 }).toBe(200)
    await on.isIn(id, "idle")

    await on.say(id, "speak")
    await on.isIn(id, "running")
    await server.kill()
    await server.startAgain()
    await on.isIn(id, "idle")
    expectWhole(await on.events(id), [`Turn 0: ${WORDS}`, "Asked 0.", `Turn 1: ${WORDS}`])

    const found = async () =>
      (await on.hub.get("/api/search?q=asked")).hits.map(({ session }: { session: string }) => session)
    await expect.poll(found, { timeout: 30_000, interval: 100 }).toContain(id)
    expect(await on.hub.stop()).toBe(0)
    for (const text of [on.hub.log, on.log, filesOf(on.hub.data)]) expect(text).not.toContain(server.password)
    expect(readFileSync(join(on.hub.data, "store"), "utf8")).toMatch(
      /^postgres:\/\/signalbox@127\.0\.0\.1:\d+\/test_1\n$/,
    )
    expect(readdirSync(on.hub.data)).not.toContain("signalbox.db")
  }, 120_000)
})
