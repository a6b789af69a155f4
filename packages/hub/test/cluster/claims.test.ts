import { afterEach, describe, expect, it } from "vitest"
import { hasPostgres } from "../../../../test/postgres/server.ts"
import { HubError } from "../../src/errors.ts"
import type { ClusterStore } from "../../src/store/cluster-store.ts"
import type { Store } from "../../src/store/open-store.ts"
import { connectWriter } from "../../src/store/postgres/connection.ts"
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts"
import { numberedEvent, readWhole } from "../../src/testing/events.ts"
import { allowed, keptSession, pendingAsk, waitingMessage } from "../../src/testing/records.ts"
import { clusterOf, emptiedDatabase, rowsIn } from "../store/postgres-database.ts"

interface SharingHub {
  readonly store: Store
  readonly cluster: ClusterStore
  readonly moved: [string, number][]
}

/** Longer than any test takes, on whatever machine. */
const LEASE_MS = 3_600_000
const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

/** As a hub has it: alive, with a row of its own. */
async function openHubOn(url: string): Promise<SharingHub> {
  const moved: [string, number][] = []
  const store = await openPostgresStore({ url, shared: { onMoved: (...what) => moved.push(what) } })
  closers.push(() => store.close())
  const cluster = await clusterOf(store)
  closers.push(() => cluster.close())
  const row = { id: cluster.hub, url: "http://h", version: "1", wire: 1, sessions: 0, runners: 0, viewers: 0 }
  await cluster.beat(row, LEASE_MS)
  return { store, cluster, moved }
}

async function outcome(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "done",
    (error: unknown) => (error instanceof HubError ? error.code : String(error)),
  )
}

const claim = (hub: SharingHub, session: string, force = false) =>
  hub.cluster.claim(session, { leaseMs: LEASE_MS, force })

describe.runIf(hasPostgres)("whose session it is", () => {
  it("[CT10] a session has one owner: a living hub's is not claimed, a dead one's and one that was let go of is, each under a higher epoch", async () => {
    const url = await emptiedDatabase()
    const [one, other] = [await openHubOn(url), await openHubOn(url)]
    expect(await claim(one, "s")).toEqual({ isOurs: true })
    expect(await claim(other, "s")).toEqual({ isOurs: false, owner: one.cluster.hub })
    expect(await one.cluster.owners(["s", "t"])).toEqual(
      new Map([
        ["s", { owner: one.cluster.hub, pendingAsks: 0, lastSeq: 0 }],
        ["t", { owner: undefined, pendingAsks: 0, lastSeq: 0 }],
      ]),
    )
    await one.cluster.release("s")
    expect(await claim(other, "s")).toEqual({ isOurs: true })
    await rowsIn(
      url,
      `UPDATE signalbox.hubs SET seen_at = now() - interval '2 hours' WHERE id = '${other.cluster.hub}'`,
    )
    expect(await claim(one, "s")).toEqual({ isOurs: true })
    expect(await rowsIn(url, "SELECT epoch, owner FROM signalbox.logs WHERE name = 's'")).toEqual([
      { epoch: 3, owner: one.cluster.hub },
    ])
    await rowsIn(url, "UPDATE signalbox.hubs SET seen_at = now()")
    const racers = await Promise.all([claim(one, "new"), claim(other, "new"), claim(one, "new"), claim(other, "new")])
    const winners = new Set(racers.map((claimed, index) => (claimed.isOurs ? index % 2 : 1 - (index % 2))))
    expect(winners.size).toBe(1)
  })

  it("[CT11] a hub whose session was claimed writes nothing of it any more, of whatever kind, and is told; its other sessions go on", async () => {
    const url = await emptiedDatabase()
    const [one, other] = [await openHubOn(url), await openHubOn(url)]
    const { log, directory } = one.store
    one.cluster.begin("s")
    await claim(one, "t")
    const ask = pendingAsk("a", { sessionId: "s" })
    await Promise.all([
      directory.saveSession(keptSession("s", { title: "before" })),
      log.append("s", [numberedEvent(1)]),
      directory.addAsk(ask),
      directory.addMessage(waitingMessage("m", 1, { sessionId: "s" })),
    ])
    expect(await rowsIn(url, "SELECT epoch, owner FROM signalbox.logs WHERE name = 's'")).toEqual([
      { epoch: 1, owner: one.cluster.hub },
    ])
    await claim(other, "s", true)
    const outcomes = await Promise.all(
      [
        log.append("s", [numberedEvent(2)]),
        log.append("t", [numberedEvent(1)]),
        directory.saveSession(keptSession("s", { title: "after" })),
        directory.settleAsk("a", "pending", allowed(ask, "ann"), { synced: true }),
        directory.addAsk(pendingAsk("b", { sessionId: "s" })),
        directory.setMessageState("s", "m", "sent", "i"),
        directory.addMessage(waitingMessage("n", 2, { sessionId: "s" })),
        directory.purgeSession("s", {
          at: "",
          what: "x",
          by: null,
          via: null,
          sessionId: "s",
          askId: null,
          details: {},
        }),
        directory.putDocument("clients/s", ["after"], { session: "s" }),
        directory.revokeGrant("g", "now", "ann", "s"),
        directory.putDocument("else", 1),
      ].map(outcome),
    )
    expect(outcomes).toEqual([
      "hub/moved",
      "done",
      "hub/moved",
      "hub/moved",
      "hub/moved",
      "hub/moved",
      "hub/moved",
      "hub/moved",
      "hub/moved",
      "hub/moved",
      "done",
    ])
    expect(await directory.getDocument("clients/s")).toBeUndefined()
    expect(new Set(one.moved.map(([session, epoch]) => `${session} ${epoch}`))).toEqual(new Set(["s 1"]))
    await directory.markAskDelivered("a", "now")
    expect((await readWhole(log, "s")).map(({ seq }) => seq)).toEqual([1])
    expect((await directory.getSession("s"))?.record.title).toBe("before")
    expect(await directory.getAsk("a")).toEqual(ask)
    expect(await directory.openMessages("s")).toMatchObject([{ uuid: "m", state: "waiting" }])
    expect((await other.store.log.append("s", [numberedEvent(2)])).lastSeq).toBe(2)
  })

  it("[CT11] a hub finds out by itself which of its sessions another one has taken", async () => {
    const url = await emptiedDatabase()
    const [one, other] = [await openHubOn(url), await openHubOn(url)]
    for (const session of ["s", "t", "u"]) await claim(one, session)
    await one.store.log.append("t", [numberedEvent(1)])
    expect(await one.cluster.lost()).toEqual([])
    await claim(other, "s", true)
    await claim(other, "u", true)
    await claim(one, "u", true)
    expect(await one.cluster.lost()).toEqual([{ session: "s", epoch: 1 }])
    expect(await other.cluster.lost()).toEqual([{ session: "u", epoch: 2 }])
  })

  it("[CT12] what a hub wrote before it claimed a session anew is in before the claim, or never", async () => {
    const url = await emptiedDatabase()
    const { store, cluster } = await openHubOn(url)
    for (let round = 0; round < 20; round++) {
      await cluster.claim("s", { leaseMs: 10_000, force: false })
      const before = outcome(store.log.append("s", [numberedEvent(round)]))
      await cluster.claim("s", { leaseMs: 10_000, force: false })
      const { lastSeq } = await store.log.bounds("s")
      await before
      expect((await store.log.bounds("s")).lastSeq).toBe(lastSeq)
    }
    expect(await outcome(store.log.append("unclaimed", [numberedEvent(1)]))).toBe("hub/moved")
  })

  it("[CT10] a claim that the database cannot make in time fails, and is not made later; it does not hold up the hub's renewal", async () => {
    const url = await emptiedDatabase()
    const { cluster } = await openHubOn(url)
    const holder = await connectWriter(url, "test")
    closers.push(() => holder.end())
    await holder.query("BEGIN")
    await holder.query("LOCK TABLE signalbox.logs IN ACCESS EXCLUSIVE MODE")
    const claims = ["a", "b", "c", "d"].map((id) => outcome(cluster.claim(id, { leaseMs: LEASE_MS, force: false })))
    const row = { id: cluster.hub, url: "http://h", version: "1", wire: 1, sessions: 0, runners: 0, viewers: 0 }
    const first = await Promise.race([cluster.beat(row, LEASE_MS).then(() => "renewed"), ...claims])
    expect(first).toBe("renewed")
    expect(await Promise.all(claims.slice(0, 3))).toEqual(["store/failed", "store/failed", "store/failed"])
    await Promise.all(claims)
    await holder.query("ROLLBACK")
    const busy = "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%UPDATE logs SET epoch%'"
    await expect.poll(() => rowsIn(url, `${busy} AND pid <> pg_backend_pid()`)).toEqual([])
    expect(await rowsIn(url, "SELECT name FROM signalbox.logs")).toEqual([])
  }, 30_000)

  it("[CT22] a key is one hub's to start until it lets go of it or is dead", async () => {
    const url = await emptiedDatabase()
    const [one, other] = [await openHubOn(url), await openHubOn(url)]
    const claimed = await Promise.all([one, other, one, other].map(({ cluster }) => cluster.claimKey("k")))
    expect(claimed.filter(Boolean)).toHaveLength(2)
    const [has, hasNot] = claimed[0] ? [one, other] : [other, one]
    expect([await has.cluster.claimKey("k"), await hasNot.cluster.claimKey("k")]).toEqual([true, false])
    await hasNot.cluster.releaseKey("k")
    expect(await hasNot.cluster.claimKey("k")).toBe(false)
    await has.cluster.releaseKey("k")
    expect(await hasNot.cluster.claimKey("k")).toBe(true)
    await rowsIn(url, `DELETE FROM signalbox.hubs WHERE id = '${hasNot.cluster.hub}'`)
    expect(await has.cluster.claimKey("k")).toBe(true)
  })

  it("[CT23] a hub that starts or takes over looks at its own sessions, those of dead hubs and those of none", async () => {
    const url = await emptiedDatabase()
    const [one, other] = [await openHubOn(url), await openHubOn(url)]
    for (const [hub, id] of [
      [one, "own"],
      [other, "another's"],
      [other, "a dead one's"],
      [other, "nobody's"],
    ] as const) {
      await claim(hub, id)
      await hub.store.directory.saveSession(keptSession(id))
    }
    await rowsIn(url, "UPDATE signalbox.logs SET owner = gen_random_uuid() WHERE name = 'a dead one''s'")
    await rowsIn(url, "UPDATE signalbox.logs SET owner = NULL WHERE name = 'nobody''s'")
    expect(await one.store.directory.unfinishedSessions()).toEqual(["own", "a dead one's", "nobody's"])
    expect(await other.store.directory.unfinishedSessions()).toEqual(["another's", "a dead one's", "nobody's"])
  })

  it("[CT13] a hub that wants the database for itself is kept out by hubs that share it and keeps them out, and goes on with what they claimed", async () => {
    const url = await emptiedDatabase()
    const shared = await openPostgresStore({ url, shared: { onMoved: () => undefined } })
    const cluster = await clusterOf(shared)
    await cluster.claim("s", { leaseMs: 10_000, force: false })
    await shared.log.append("s", [numberedEvent(1)])
    await expect(openPostgresStore({ url })).rejects.toMatchObject({ code: "start/store" })
    await cluster.close()
    await shared.close()
    const alone = await openPostgresStore({ url })
    closers.push(() => alone.close())
    expect((await alone.log.append("s", [numberedEvent(2)])).lastSeq).toBe(2)
    await expect(openPostgresStore({ url, shared: { onMoved: () => undefined } })).rejects.toMatchObject({
      code: "start/store",
    })
  }, 30_000)
})
