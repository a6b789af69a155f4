import { describe, expect, it } from "vitest"
import { packLines } from "../../src/store/cold/line-block.js"
import { Compression } from "../../src/store/compression.ts"
import { type Database, openAsIs, openDatabase } from "../../src/store/database.ts"
import { Journal, type JournalCommit, type JournalOptions } from "../../src/store/journal.ts"
import { migrate } from "../../src/store/migrations/index.ts"
import { SqliteDirectory } from "../../src/store/sqlite-directory.ts"
import { SqliteEventLog } from "../../src/store/sqlite-event-log.ts"
import { withFile, withStore } from "./store-folder.ts"

interface Bench {
  readonly file: string
  readonly database: Database
  readonly journal: Journal
  readonly log: SqliteEventLog
  readonly directory: SqliteDirectory
  /** What was executed without parameters: transactions and settings. */
  readonly executed: string[]
  /** While set, COMMIT fails with this code of SQLite. */
  failing: string | undefined
}

/** The real thing, seen through its port, with a disk that can be made to fail. */
async function withBench(run: (bench: Bench) => Promise<void>, options: JournalOptions = {}): Promise<void> {
  await withFile(async (file) => {
    const real = openDatabase(file)
    migrate(real)
    const executed: string[] = []
    const database: Database = {
      exec(sql) {
        executed.push(sql)
        if (sql === "COMMIT" && bench.failing !== undefined) {
          throw Object.assign(new Error("the disk's own words"), { code: bench.failing })
        }
        real.exec(sql)
      },
      run: (sql, values) => real.run(sql, values),
      get: (sql, values) => real.get(sql, values),
      all: (sql, values) => real.all(sql, values),
      close: () => real.close(),
    }
    const journal = new Journal(database, { retryMs: 5, ...options })
    const log = new SqliteEventLog(database, journal)
    const bench: Bench = {
      file,
      database,
      journal,
      log,
      directory: new SqliteDirectory(database, journal),
      executed,
      failing: undefined,
    }
    try {
      await run(bench)
    } finally {
      bench.failing = undefined
      journal.close()
      real.close()
    }
  })
}

const event = (n: number) => ({ at: n, from: "agent", key: `key-${n}`, line: `{"n":${n}}` }) as const
const typed = (n: number) =>
  ({ at: n, from: "client", by: "somebody", key: `typed-${n}`, line: `{"typed":${n}}` }) as const
const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
  )

describe("group commit", () => {
  it("[JL1] what is written in one tick to log and directory is one transaction, in the order made", async () => {
    const commits: JournalCommit[] = []
    await withStore(
      async ({ log, directory, journal }) => {
        const order: number[] = []
        const job = (n: number) => journal.write({ run: () => order.push(n) })
        await Promise.all([
          job(1),
          directory.putDocument("a", 1),
          log.append("s", [event(1)]),
          directory.putDocument("a", 2),
          job(2),
          log.append("s", [event(2), event(3)]),
          job(3),
        ])
        expect(order).toEqual([1, 2, 3])
        expect(commits[0]?.jobs).toBe(7)
        expect(await directory.getDocument("a")).toBe(2)
      },
      { onCommitted: (commit) => commits.push(commit) },
    )
  })

  it("[JL1] nothing can be read before it is committed", () =>
    withBench(async ({ log, directory }) => {
      const writing = Promise.all([log.append("s", [event(1)]), directory.putDocument("a", 1)])
      expect(await log.read("s", { limit: 10 })).toEqual([])
      expect(await directory.getDocument("a")).toBeUndefined()
      await writing
      expect(await log.read("s", { limit: 10 })).toHaveLength(1)
    }))

  it("[JL2] a write that throws fails alone and with its own error; numbers stay dense", () =>
    withBench(async ({ journal, log, directory }) => {
      await log.append("s", [event(1)])
      const wrong = new Error("a job's own problem")
      const outcomes = await Promise.allSettled([
        log.append("s", [event(2)]),
        journal.write({
          run: () => {
            throw wrong
          },
        }),
        log.append("s", [event(3), event(2)]),
        log.append("new", [event(1)]),
        directory.putDocument("a", 1),
      ])
      expect(outcomes.map((each) => each.status)).toEqual([
        "fulfilled",
        "rejected",
        "fulfilled",
        "fulfilled",
        "fulfilled",
      ])
      expect(outcomes[1]).toMatchObject({ reason: wrong })
      expect(await log.append("s", [event(4)])).toMatchObject({ lastSeq: 4 })
      expect((await log.read("s", { limit: 10 })).map(({ key }) => key)).toEqual(["key-1", "key-2", "key-3", "key-4"])
      expect(await directory.getDocument("a")).toBe(1)
    }))

  it("[JL2] an event that cannot be written fails alone, and those after it are written", () =>
    withBench(async ({ log }) => {
      const broken = JSON.parse('{"at":{},"from":"agent","line":"{}"}')
      const outcomes = await Promise.allSettled([
        log.append("s", [event(1)]),
        log.append("s", [event(2), broken]),
        log.append("s", [event(3)]),
      ])
      expect(outcomes.map((each) => each.status)).toEqual(["fulfilled", "rejected", "fulfilled"])
      await log.append("s", [event(4)])
      expect((await log.read("s", { limit: 10 })).map(({ seq, key }) => `${seq} ${key}`)).toEqual([
        "1 key-1",
        "2 key-3",
        "3 key-4",
      ])
    }))

  it("[JL2] what a write that throws had written before is taken back", () =>
    withBench(async ({ journal, database, directory }) => {
      const failing = journal.write({
        run: () => {
          database.run("INSERT INTO documents (name, value) VALUES ('half', '1')", [])
          throw new Error("then it broke")
        },
      })
      const fine = directory.putDocument("whole", 1)
      await expect(failing).rejects.toThrow("then it broke")
      await fine
      expect(await directory.getDocument("half")).toBeUndefined()
      expect(await directory.getDocument("whole")).toBe(1)
    }))

  it("[JL3] a transaction with anything promised in it is synced in full, and only that one", () =>
    withBench(async ({ log, directory, executed }) => {
      await log.append("s", [event(1)])
      expect(executed.splice(0)).toEqual(["BEGIN IMMEDIATE", "COMMIT"])
      await Promise.all([log.append("s", [event(2)]), directory.putDocument("a", 1, { synced: true })])
      const full = ["PRAGMA synchronous = FULL", "BEGIN IMMEDIATE", "COMMIT", "PRAGMA synchronous = NORMAL"]
      expect(executed.splice(0)).toEqual(full)
      await log.append("s", [typed(1)], { synced: true })
      expect(executed.splice(0)).toEqual(full)
    }))

  it("[JL10] while commits are held writes wait, and are committed together and in order when they are not", () =>
    withBench(async ({ journal, log, executed }) => {
      const releases = [journal.hold(), journal.hold()]
      const first = log.append("s", [event(1)])
      await new Promise((resolve) => setImmediate(resolve))
      const second = log.append("s", [event(2)])
      releases[0]?.()
      releases[0]?.()
      await new Promise((resolve) => setImmediate(resolve))
      expect(executed).toEqual([])
      releases[1]?.()
      expect(await Promise.all([first, second])).toMatchObject([{ lastSeq: 1 }, { lastSeq: 2 }])
      expect(executed).toEqual(["BEGIN IMMEDIATE", "COMMIT"])
    }))

  it("[JL20] what had to wait is written in pieces of about half a megabyte, whole ticks in their order, and others get their turn in between", async () => {
    const commits: JournalCommit[] = []
    let turns = 0
    const turnsAt: number[] = []
    const onCommitted = (commit: JournalCommit) => {
      commits.push(commit)
      turnsAt.push(turns)
    }
    await withBench(
      async ({ journal, log }) => {
        const release = journal.hold()
        const order: string[] = []
        const written: Promise<unknown>[] = []
        for (let tick = 0; tick < 100; tick++) {
          const said = log.append("loud", [{ ...event(tick), line: "x".repeat(50_000) }])
          // Made in the same tick: never without the event.
          const beside = journal.write({ run: () => order.push(`beside ${tick}`) })
          written.push(Promise.all([said, beside]).then(() => order.push(`tick ${tick}`)))
          await new Promise((resolve) => setImmediate(resolve))
        }
        release()
        while (commits.reduce((jobs, commit) => jobs + commit.jobs, 0) < 200) {
          await new Promise((resolve) => setImmediate(resolve))
          turns++
        }
        await Promise.all(written)
        expect(Math.max(...commits.map(({ bytes }) => bytes))).toBeLessThan(600_000)
        expect(commits.length).toBeLessThan(20)
        expect(new Set(turnsAt).size).toBe(commits.length)
        for (const { jobs } of commits) expect(jobs % 2).toBe(0)
        expect(order.filter((each) => each.startsWith("tick"))).toEqual(written.map((_, tick) => `tick ${tick}`))
        expect(await log.bounds("loud")).toEqual({ firstSeq: 1, lastSeq: 100 })
      },
      { onCommitted },
    )
  })

  it("[JL7] close writes what waits; later writes are refused with hub/stopping", () =>
    withFile(async (file) => {
      const database = openDatabase(file)
      migrate(database)
      const journal = new Journal(database)
      const log = new SqliteEventLog(database, journal)
      const last = log.append("s", [event(1)])
      journal.close()
      expect(await last).toMatchObject({ lastSeq: 1 })
      expect(await log.read("s", { limit: 10 })).toHaveLength(1)
      await expect(log.append("s", [event(2)])).rejects.toMatchObject({ code: "hub/stopping" })
      await journal.room()
      database.close()
    }))
})

describe("a disk in trouble", () => {
  it("[JL4] what people send is refused at once, what agents say waits and is written when there is room", async () => {
    const told: string[] = []
    const options: JournalOptions = {
      onTrouble: (error) => told.push(error.code),
      onRecovered: () => told.push("recovered"),
    }
    await withBench(async ({ database, journal, log, directory, executed }) => {
      await log.append("s", [event(1)])
      const pages = Number(database.get("PRAGMA page_count", [])?.[0])
      database.all(`PRAGMA max_page_count = ${pages}`, [])
      const long = { ...event(2), line: "x".repeat(100_000) }
      const said = log.append("s", [long])
      expect(await outcome(log.append("s", [typed(1)], { synced: true }))).toBe("store/full")
      expect(journal.isStalled).toBe(true)
      // Refused without another try, while the agents' lines pile up behind the first.
      expect(await outcome(directory.addMessage(message))).toBe("store/full")
      expect(await outcome(directory.putDocument("policy", {}, { synced: true }))).toBe("store/full")
      const undeleted = { code: "store/full", message: expect.stringContaining("no session deleted") }
      await expect(log.purge("s")).rejects.toMatchObject(undeleted)
      const saidLater = log.append("s", [event(3)])
      const room = outcome(journal.room())
      // Nothing confirmed is harmed, and it can still be read.
      expect(await log.read("s", { limit: 10 })).toEqual([{ ...event(1), seq: 1 }])
      // It was tried again and again, and told once.
      const before = executed.length
      await expect.poll(() => executed.length).toBeGreaterThan(before + 6)
      expect(told).toEqual(["store/full"])
      database.all("PRAGMA max_page_count = 1000000", [])
      expect(await said).toMatchObject({ lastSeq: 2 })
      expect(await saidLater).toMatchObject({ lastSeq: 3 })
      expect(await room).toBe("done")
      expect(await log.append("s", [typed(2)], { synced: true })).toMatchObject({ lastSeq: 4 })
      expect(told).toEqual(["store/full", "recovered"])
    }, options)
  })

  it.each(["SQLITE_IOERR_WRITE", "SQLITE_FULL", "SQLITE_BUSY", "SQLITE_CORRUPT"])(
    "[JL4] a commit that fails with %s is as if it never was; the numbers are given again",
    (code) =>
      withBench(async (bench) => {
        const { log, directory, journal } = bench
        await log.append("s", [event(1)])
        bench.failing = code
        const said = [log.append("s", [event(2), event(3)]), log.append("new", [event(1)])]
        const refused = log.append("s", [typed(1)], { synced: true })
        const kept = directory.setMessageState("s", "m", "sent", null)
        expect(await outcome(refused)).toBe(code === "SQLITE_FULL" ? "store/full" : "store/failed")
        expect(await log.bounds("s")).toEqual({ firstSeq: 1, lastSeq: 1 })
        bench.failing = undefined
        await Promise.all([...said, kept, journal.room()])
        expect((await log.read("s", { limit: 10 })).map(({ key }) => key)).toEqual(["key-1", "key-2", "key-3"])
        expect(await log.bounds("new")).toEqual({ firstSeq: 1, lastSeq: 1 })
      }),
  )

  it("[JL4] it recovers by itself also when nothing waits to be written", async () => {
    let onRecovered: () => void = () => undefined
    const recovered = new Promise<void>((resolve) => {
      onRecovered = resolve
    })
    await withBench(
      async (bench) => {
        bench.failing = "SQLITE_IOERR_WRITE"
        const refused = bench.directory.putDocument("a", 1, { synced: true })
        expect(await outcome(refused)).toBe("store/failed")
        expect(bench.journal.isStalled).toBe(true)
        bench.failing = undefined
        await recovered
        expect(bench.journal.isStalled).toBe(false)
        await bench.directory.putDocument("a", 1, { synced: true })
      },
      { onRecovered: () => onRecovered() },
    )
  })

  it("[JL4] it is tried again without waiting for somebody who reads on, such as a backup", () =>
    withBench(async (bench) => {
      const reader = openAsIs(bench.file)
      reader.exec("BEGIN")
      expect(reader.all("SELECT count(*) FROM events", [])).toEqual([[0]])
      // The write-ahead log has more than the reader sees, so it cannot be cut.
      await bench.log.append("s", [event(1)])
      bench.failing = "SQLITE_FULL"
      const startedAt = performance.now()
      const said = bench.log.append("s", [event(2)])
      const tries = () => bench.executed.filter((sql) => sql === "COMMIT").length
      await expect.poll(tries, { timeout: 30_000, interval: 5 }).toBeGreaterThan(4)
      expect(performance.now() - startedAt, "no try waited").toBeLessThan(2_500)
      expect(bench.database.get("PRAGMA busy_timeout", []), "writes wait as before").toEqual([5_000])
      reader.close()
      bench.failing = undefined
      await said
    }))

  it("[JL4] an agent's line is never refused, also when it shares an append with something promised", () =>
    withBench(async (bench) => {
      bench.failing = "SQLITE_FULL"
      const mixed = bench.log.append("s", [event(1), typed(1)], { synced: true })
      expect(await outcome(bench.directory.putDocument("a", 1, { synced: true }))).toBe("store/full")
      bench.failing = undefined
      expect(await mixed).toMatchObject({ lastSeq: 2 })
    }))

  it("[JL5] room waits from the first bound on; past the second every write is refused", () =>
    withBench(
      async (bench) => {
        const { log, journal } = bench
        const long = (n: number) => ({ ...event(n), line: "x".repeat(10_000) })
        bench.failing = "SQLITE_FULL"
        const waiting = Array.from({ length: 10 }, (_, n) => log.append("s", [long(n)]))
        expect(journal.waitingBytes).toBeGreaterThan(100_000)
        expect(await outcome(log.append("s", [long(99)]))).toBe("store/failed")
        await expect.poll(() => journal.isStalled).toBe(true)
        expect(await outcome(log.append("s", [long(99)]))).toBe("store/full")
        bench.failing = undefined
        await journal.room()
        await Promise.all(waiting)
        expect(journal.waitingBytes).toBe(0)
        expect(await log.bounds("s")).toEqual({ firstSeq: 1, lastSeq: 10 })
      },
      { fullAtBytes: 20_000, maxWaitingBytes: 100_000 },
    ))

  it("[JL7] close in trouble tries once more and refuses what it cannot write: every write settles", () =>
    withBench(async (bench) => {
      bench.failing = "SQLITE_IOERR_WRITE"
      const said = [outcome(bench.log.append("s", [event(1)])), outcome(bench.log.append("s", [event(2)]))]
      expect(await outcome(bench.directory.putDocument("a", 1, { synced: true }))).toBe("store/failed")
      const late = outcome(bench.log.append("s", [event(3)]))
      const room = outcome(bench.journal.room())
      bench.journal.close()
      expect(await Promise.all([...said, late, room])).toEqual(["store/failed", "store/failed", "store/failed", "done"])
    }))

  it("[JL44] a block that the disk has no room for is refused, and every line stays where it is", () =>
    withBench(async (bench) => {
      const { database, journal, log } = bench
      const compression = new Compression({ database, journal, file: "" })
      const { stored } = await log.append("s", [{ at: 1, from: "agent", line: '{"type":"user"}' }])
      const session = Number(database.get("SELECT session FROM events", [])?.[0])
      const block = { session, from: 0, upTo: 1, seqs: [1], rawBytes: 15, body: packLines(stored) }
      bench.failing = "SQLITE_FULL"
      await expect(compression.keep(block)).rejects.toMatchObject({ code: "store/full" })
      expect(database.get("SELECT typeof(line) FROM events", [])).toEqual(["text"])
      bench.failing = undefined
      await journal.room()
      await compression.keep(block)
      expect(database.get("SELECT typeof(line) FROM events", [])).toEqual(["integer"])
      expect(await log.read("s", { limit: 5 })).toEqual(stored)
      await compression.close()
    }))
})

const message = {
  uuid: "m",
  sessionId: "s",
  seq: 1,
  state: "waiting",
  incarnation: null,
  line: "{}",
  by: "somebody",
  at: "2030-01-01T00:00:00.000Z",
} as const
