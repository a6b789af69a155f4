import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { hasPostgres } from "../../../../test/postgres/server.ts"
import { HubError } from "../../src/errors.ts"
import type { NewEvent } from "../../src/model/event.ts"
import type { Store } from "../../src/store/open-store.ts"
import { connectWriter } from "../../src/store/postgres/connection.ts"
import { openPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/open-postgres-store.ts"
import { PostgresJournal } from "../../src/store/postgres/postgres-journal.ts"
import { migratePostgres } from "../../src/store/postgres/schema.ts"
import { numberedEvent, numberedEvents, readWhole, seqs, upTo } from "../../src/testing/events.ts"
import { allowed, auditRecord, keptSession, pendingAsk, waitingMessage } from "../../src/testing/records.ts"
import { DatabaseProxy } from "./database-proxy.ts"
import { emptiedDatabase, rowsIn } from "./postgres-database.ts"

interface Bench {
  readonly store: Store
  readonly proxy: DatabaseProxy
  readonly url: string
}

async function withBench(
  run: (bench: Bench) => Promise<void>,
  options: Omit<PostgresStoreOptions, "url"> = {},
): Promise<void> {
  const url = await emptiedDatabase()
  const proxy = await DatabaseProxy.open(url)
  const store = await openPostgresStore({ url: proxy.url, retryMs: 10, ...options })
  try {
    await run({ store, proxy, url })
  } finally {
    await store.close()
    await proxy.close()
  }
}

/** Without a key: twice would be seen. */
function plain(n: number): NewEvent {
  return { at: n, from: "agent", line: JSON.stringify({ n }) }
}

function typed(n: number): NewEvent {
  return { at: n, from: "client", by: "somebody", line: JSON.stringify({ n }) }
}

async function outcome(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "done",
    (error: unknown) => (error instanceof HubError ? error.code : String(error)),
  )
}

describe.runIf(hasPostgres)("the journal on PostgreSQL", () => {
  it("[PQ30] all writes of one tick are one transaction, and later ticks are collected while it is on its way", async () => {
    const commits: number[] = []
    await withBench(
      async ({ store: { log, directory } }) => {
        await log.append("s", [plain(0)])
        commits.length = 0
        const first = [log.append("s", [plain(1)]), directory.putDocument("a", 1), log.append("t", [plain(1)])]
        await new Promise((resolve) => setImmediate(resolve))
        const later = [log.append("s", [plain(2)]), directory.putDocument("a", 2)]
        await new Promise((resolve) => setImmediate(resolve))
        later.push(log.append("s", [plain(3)]))
        await Promise.all([...first, ...later])
        expect(commits).toEqual([3, 3])
        expect(await directory.getDocument("a")).toBe(2)
        expect((await readWhole(log, "s")).map(({ at }) => at)).toEqual([0, 1, 2, 3])
      },
      { onCommitted: ({ jobs }) => commits.push(jobs) },
    )
  })

  it("[PQ31] a write that the database does not take fails alone, and leaves nothing behind", async () => {
    const url = await emptiedDatabase()
    await (await openPostgresStore({ url })).close()
    const journal = new PostgresJournal({ url })
    const options = { bytes: 1, refusable: false }
    const insert = (name: string, value: string) => ({
      text: "INSERT INTO documents (name, value) SELECT $1, (1 / $2::int)::text",
      values: [name, value],
    })
    const outcomes = await Promise.allSettled([
      journal.append("s", [plain(1), numberedEvent(1)], options),
      journal.write(insert("whole", "1"), options),
      journal.write(insert("broken", "0"), options),
      journal.append("s", [plain(2), numberedEvent(1)], options),
      journal.append("s", [{ ...plain(3), at: 2 ** 53 }], options),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
    ])
    expect(outcomes[2]).toMatchObject({ reason: { code: "store/failed", message: expect.stringContaining("22012") } })
    await journal.close()
    const store = await openPostgresStore({ url })
    expect(seqs(await readWhole(store.log, "s"))).toEqual([1, 2, 3, 4])
    expect([await store.directory.getDocument("whole"), await store.directory.getDocument("broken")]).toEqual([
      1,
      undefined,
    ])
    await expect(store.log.append("s", [JSON.parse('{"at":{},"from":"agent","line":"{}"}')])).rejects.toThrow(TypeError)
    await store.close()
  })

  it.each(["before", "after"] as const)(
    "[PQ32] a connection that is lost %s the commit arrives loses nothing and writes nothing twice",
    (cut) =>
      withBench(async ({ store: { log, directory }, proxy }) => {
        await log.append("s", [plain(0)])
        await directory.addAsk(pendingAsk("1"))
        proxy.cut = cut
        const [said, settled, loser] = await Promise.all([
          log.append("s", [plain(1), plain(2)]),
          directory.settleAsk("1", "pending", allowed(pendingAsk("1"), "ann"), {
            audit: auditRecord("allowed"),
            uses: { rules: ["r"], day: "2030-01-01" },
          }),
          directory.settleAsk("1", "pending", allowed(pendingAsk("1"), "bob")),
        ])
        expect(said).toEqual({ stored: [1, 2].map((n) => ({ ...plain(n), seq: n + 1 })), lastSeq: 3 })
        expect([settled.changed, loser.changed, loser.ask.settledBy]).toEqual([true, false, "ann"])
        expect(await log.append("s", [plain(3)])).toMatchObject({ lastSeq: 4 })
        expect((await readWhole(log, "s")).map(({ at }) => at)).toEqual([0, 1, 2, 3])
        expect(await directory.listAudit({ after: 0, limit: 9 })).toHaveLength(1)
        expect(await directory.ruleUses({ session: "s" })).toEqual(new Map([["r", 1]]))
      }),
  )

  it("[PQ32] a promised write whose commit was lost is told the truth: done if it is in", () =>
    withBench(async ({ store: { directory }, proxy }) => {
      await directory.putDocument("a", 1)
      proxy.cut = "after"
      expect(await outcome(directory.addMessage(waitingMessage("m", 1)))).toBe("done")
      proxy.cut = "before"
      const lost = await outcome(directory.addMessage(waitingMessage("n", 2)))
      expect(["done", "store/failed"]).toContain(lost)
      expect((await directory.getMessage("s", "n")) !== undefined).toBe(lost === "done")
    }))

  it("[PQ33] while the database is away people are refused at once, and what agents say waits in its order", async () => {
    const told: string[] = []
    await withBench(
      async ({ store: { log, directory, journal }, proxy }) => {
        await log.append("s", [plain(0)])
        proxy.isAway = true
        const said = log.append("s", [plain(1)])
        expect(await outcome(directory.addMessage(waitingMessage("m", 1)))).toBe("store/failed")
        expect(journal.isStalled).toBe(true)
        expect(await outcome(log.append("s", [typed(9)], { synced: true }))).toBe("store/failed")
        expect(await outcome(log.read("s", { limit: 1 }))).toBe("store/failed")
        const later = log.append("s", [plain(2)])
        const room = outcome(journal.room())
        proxy.isAway = false
        expect([await said, await later]).toMatchObject([{ lastSeq: 2 }, { lastSeq: 3 }])
        expect(await room).toBe("done")
        expect(told).toEqual(["store/failed", "recovered"])
        await directory.addMessage(waitingMessage("m", 1))
        expect((await readWhole(log, "s")).map(({ at }) => at)).toEqual([0, 1, 2])
      },
      { onTrouble: ({ code }) => told.push(code), onRecovered: () => told.push("recovered") },
    )
  })

  it("[PQ33] waiting writes are bounded, and the journal recovers by itself also when nothing waits", async () => {
    let onRecovered: () => void = () => undefined
    const recovered = new Promise<void>((resolve) => {
      onRecovered = resolve
    })
    await withBench(
      async ({ store: { log, directory, journal }, proxy }) => {
        await log.append("s", [plain(0)])
        proxy.isAway = true
        expect(await outcome(directory.addMessage(waitingMessage("m", 1)))).toBe("store/failed")
        proxy.isAway = false
        await recovered
        expect(journal.isStalled).toBe(false)
        proxy.isAway = true
        const long = { ...plain(1), line: "x".repeat(30_000) }
        const waiting = [log.append("s", [long]), log.append("s", [long])]
        expect(await outcome(log.append("s", [long]))).toBe("store/failed")
        proxy.isAway = false
        await Promise.all(waiting)
        expect(await log.bounds("s")).toEqual({ firstSeq: 1, lastSeq: 3 })
      },
      { maxWaitingBytes: 50_000, onRecovered: () => onRecovered() },
    )
  })

  it("[PQ33] closing in trouble tries once more and refuses what it cannot write: every write settles", () =>
    withBench(async ({ store, proxy }) => {
      await store.log.append("s", [plain(0)])
      proxy.isAway = true
      const said = outcome(store.log.append("s", [plain(1)]))
      expect(await outcome(store.directory.addMessage(waitingMessage("m", 1)))).toBe("store/failed")
      const room = outcome(store.journal.room())
      await store.close()
      expect([await said, await room]).toEqual(["store/failed", "done"])
      expect(await outcome(store.log.append("s", [plain(2)]))).toBe("hub/stopping")
    }))

  it("[PQ33] a connection that broke while nobody wrote is made anew, and nobody is refused", async () => {
    const told: string[] = []
    await withBench(
      async ({ store: { log, directory }, url }) => {
        await log.append("s", [plain(0)])
        const pids = await rowsIn(
          url,
          "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name LIKE 'signalbox ________-%'",
        )
        expect(pids).toHaveLength(1)
        await directory.addMessage(waitingMessage("m", 1))
        expect(told).toEqual([])
      },
      { onTrouble: ({ code }) => told.push(code) },
    )
  })

  it("[PQ36] a session whose epoch was raised is refused, and only that one", () =>
    withBench(async ({ store: { log }, url }) => {
      await Promise.all([log.append("s", [plain(0)]), log.append("t", [plain(0)])])
      await rowsIn(url, "UPDATE signalbox.logs SET epoch = 1 WHERE name = 's'")
      const outcomes = await Promise.all([
        outcome(log.append("t", [plain(1)])),
        outcome(log.append("s", [plain(1)])),
        outcome(log.append("t", [plain(2)])),
      ])
      expect(outcomes).toEqual(["done", "store/failed", "done"])
      expect((await readWhole(log, "t")).map(({ at }) => at)).toEqual([0, 1, 2])
      expect((await readWhole(log, "s")).map(({ at }) => at)).toEqual([0])
    }))
})

describe.runIf(hasPostgres)("a store on PostgreSQL", () => {
  it("[PQ34] text with NUL and lone surrogates comes back as it was given, wherever it is", () =>
    withBench(async ({ store: { log, directory } }) => {
      const odd = ["\0", "a\0b", "\ud800", "x\udc00y", "\ud800\ud800\udc00", "\u0001", '\u0001"a"', "\ufffd", "😀"]
      const events = odd.map((text, at): NewEvent => ({ at, from: "client", by: text, key: text, line: text }))
      expect((await log.append("s", events)).stored).toHaveLength(odd.length)
      expect((await log.append("s", events)).stored).toEqual([])
      expect(await readWhole(log, "s")).toEqual(events.map((event, index) => ({ ...event, seq: index + 1 })))
      expect((await log.sizes("s", { limit: 9 })).map(({ bytes }) => bytes)).toEqual(
        odd.map((t) => Buffer.byteLength(t)),
      )
      for (const [index, text] of odd.entries()) {
        expect((await log.find("s", text))?.seq).toBe(index + 1)
        await log.append(text, [plain(index)])
        const session = keptSession(text, { title: text, cwd: text, agentSessionId: text, runner: text })
        await directory.saveSession(session)
        expect(await directory.getSession(text)).toEqual(session)
        expect(await directory.findSession({ by: "agentSessionId", key: text })).toBe(text)
        await directory.addMessage(waitingMessage(text, 1, { sessionId: text, line: text, by: text }))
        expect(await directory.getMessage(text, text)).toMatchObject({ line: text, by: text })
        await directory.markRead(text, text, 1)
        expect(await directory.readMarks(text, [text])).toEqual(new Map([[text, 1]]))
        await directory.putDocument(text, { [text]: text })
        expect(await directory.getDocument(text)).toEqual({ [text]: text })
        expect(await log.bounds(text)).toEqual({ firstSeq: 1, lastSeq: 1 })
      }
    }))

  it("[PQ35] two hubs that start at once on an empty database bring it up to date once; a newer one is refused by name", async () => {
    const url = await emptiedDatabase()
    await rowsIn(url, "DROP SCHEMA IF EXISTS signalbox CASCADE")
    const clients = await Promise.all([connectWriter(url, "one"), connectWriter(url, "other")])
    await Promise.all(clients.map((client) => migratePostgres(client)))
    await Promise.all(clients.map((client) => client.end()))
    const [kept] = await rowsIn(url, "SELECT version FROM signalbox.store")
    const version = Number(kept?.["version"])
    await rowsIn(url, "UPDATE signalbox.store SET version = 999")
    await expect(openPostgresStore({ url })).rejects.toMatchObject({
      code: "store/failed",
      message: `The database was written by a newer version of Signalbox (its schema is 999, this version knows ${version}). Start that version, or use another database.`,
    })
    await rowsIn(url, `UPDATE signalbox.store SET version = ${version}`)
  })

  it("[PQ37] a purged session leaves nothing in any table but what its asks, calls and audit records keep", () =>
    withBench(async ({ store, url }) => {
      const { log, directory, purger } = store
      await directory.saveSession(keptSession("s", { state: "ended" }))
      await log.append("s", numberedEvents(1_200))
      await log.append("other", numberedEvents(10))
      await directory.addMessage(waitingMessage("m", 1))
      await directory.putDocument("clients/s", {})
      await store.search.caughtUp()
      expect((await store.size()).events).toBe(1_210)
      await Promise.all([directory.purgeSession("s", auditRecord("session/purged", "s")), log.purge("s")])
      purger.wake()
      await purger.settled()
      const left = await rowsIn(
        url,
        `SELECT (SELECT count(*)::int FROM signalbox.events) AS events, (SELECT count(*)::int FROM signalbox.logs) AS logs,
          (SELECT count(*)::int FROM signalbox.purges) + (SELECT count(*)::int FROM signalbox.messages)
          + (SELECT count(*)::int FROM signalbox.documents WHERE name LIKE 'clients/%') AS rest`,
      )
      expect(left).toEqual([{ events: 10, logs: 1, rest: 0 }])
      expect(seqs(await readWhole(log, "other"))).toEqual(upTo(10))
    }))

  it("[PQ39] a second hub is refused while the first one has the database, and gets it when the first is gone", async () => {
    const url = await emptiedDatabase()
    const first = await openPostgresStore({ url })
    await expect(openPostgresStore({ url })).rejects.toMatchObject({
      code: "start/store",
      message: expect.stringMatching(/^another hub uses postgres:.*: stop it, or name another database$/),
    })
    const second = openPostgresStore({ url })
    await first.close()
    await (await second).close()
  }, 20_000)

  it("[PQ38] no error tells the password", async () => {
    const url = new URL(await emptiedDatabase())
    url.password = "not-the-password"
    const wrong: unknown = await openPostgresStore({ url: url.href }).catch((error: unknown) => error)
    const noAddress: unknown = await openPostgresStore({ url: "postgres://ann:hush-hush@:port/x" }).catch(
      (e: unknown) => e,
    )
    for (const error of [wrong, noAddress]) {
      expect(error).toBeInstanceOf(HubError)
      expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/not-the-password|hush-hush/)
    }
  })
})
