import { describe, expect, it, onTestFinished } from "vitest"
import { hasPostgres } from "../../../../test/postgres/server.ts"
import { Fellows } from "../../src/cluster/fellows.ts"
import { Membership } from "../../src/cluster/membership.ts"
import { SharedRunners } from "../../src/cluster/shared-runners.ts"
import type { ClusterStore } from "../../src/store/cluster-store.ts"
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts"
import { clusterOf, emptiedDatabase, rowsIn } from "../store/postgres-database.ts"

/** A hub's runners, and whether its database is away. */
async function openHub(url: string) {
  const store = await openPostgresStore({ url, shared: { onMoved: () => undefined } })
  onTestFinished(() => store.close())
  const tables = await clusterOf(store)
  onTestFinished(() => tables.close())
  const database = { isAway: false }
  const shared = ["runnerJoined", "runnerChanged", "runnerLeft", "runners"] as const
  const reached = Object.fromEntries(
    shared.map((name) => [
      name,
      (...given: [string, unknown]) =>
        database.isAway
          ? Promise.reject(new Error("away"))
          : (tables[name] as (...all: unknown[]) => unknown).apply(tables, given),
    ]),
  )
  const membership = await Membership.join({
    store: tables,
    url: "http://10.0.0.2:8765",
    version: "1",
    counts: () => ({ sessions: 0, runners: 0, viewers: 0 }),
    onLapsed: () => undefined,
    onBack: () => undefined,
    trouble: () => undefined,
  })
  onTestFinished(() => membership.leave())
  const runners = new SharedRunners({
    store: reached as unknown as ClusterStore,
    membership,
    fellows: new Fellows({ current: "", load: () => Promise.resolve() }),
    trouble: () => undefined,
  })
  return { runners, database, id: membership.id, membership }
}

describe.runIf(hasPostgres)("runners of several hubs", () => {
  it("[CT33] one that came to a hub without its database and left it again is not taken from the hub to which it went", async () => {
    const url = await emptiedDatabase()
    const [cutOff, other] = [await openHub(url), await openHub(url)]
    cutOff.database.isAway = true
    cutOff.runners.joined("r", { at: "the hub that is cut off" })
    await cutOff.runners.settled()
    other.runners.joined("r", { at: "the other" })
    await other.runners.settled()
    cutOff.runners.left("r", { at: "the hub that is cut off" })
    await cutOff.runners.settled()
    cutOff.database.isAway = false
    expect(await cutOff.runners.list()).toMatchObject([{ id: "r", told: { at: "the other" } }])
    expect(await rowsIn(url, "SELECT hub FROM signalbox.runners")).toEqual([{ hub: other.id }])
  })

  it("[CT33] one whose row is gone, or was taken by a hub that let go of it or died, is written anew, and not one that a living hub has", async () => {
    const url = await emptiedDatabase()
    const [at, fellow] = [await openHub(url), await openHub(url)]
    await at.membership.refresh()
    at.runners.joined("r", { n: 0 })
    await at.runners.settled()
    const lost = ["DELETE FROM signalbox.runners"]
    for (const hub of ["NULL", "gen_random_uuid()"])
      lost.push(`UPDATE signalbox.runners SET hub = ${hub}, epoch = epoch + 1`)
    for (const [n, sql] of lost.entries()) {
      await rowsIn(url, sql)
      at.runners.changed("r", { n })
      expect(await at.runners.list(), sql).toMatchObject([{ told: { n }, where: "here" }])
      expect(await rowsIn(url, "SELECT hub FROM signalbox.runners"), sql).toEqual([{ hub: at.id }])
    }
    await rowsIn(url, `UPDATE signalbox.runners SET hub = '${fellow.id}', epoch = epoch + 1`)
    at.runners.changed("r", { n: 9 })
    expect(await at.runners.list()).toMatchObject([{ where: { epoch: expect.any(Number) } }])
    expect(await rowsIn(url, "SELECT hub FROM signalbox.runners")).toEqual([{ hub: fellow.id }])
  })
})
