import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { hasPostgres, openTestDatabase, testServer } from "../../../../test/postgres/server.ts"
import { openStore, type Store } from "../../src/store/open-store.ts"
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts"
import { numberedEvents, readWhole } from "../../src/testing/events.ts"
import { record, see } from "../../src/testing/past-requests.ts"
import {
  allowed,
  auditRecord,
  grant,
  keptSession,
  pendingAsk,
  token,
  waitingMessage,
} from "../../src/testing/records.ts"
import { moveToPostgres, moveToSqlite } from "../../src/upkeep.ts"
import { compressHere } from "./store-folder.ts"

const SESSIONS = ["s", "t", "odd\u0001 \u{1f600}"]
const AUDIT = { after: 0, limit: 500 }

/** Something of every kind, and everything that one store keeps in another way than the other. */
async function fill(store: Store): Promise<void> {
  const { log, directory } = store
  await record(store, [{ command: "ls", answer: "allowed" }, { command: "make" }])
  await see(store, { command: "call", minute: 5, effect: "deny" })
  for (const [at, id] of SESSIONS.entries()) {
    await directory.saveSession(keptSession(id, { title: `Title ${at}`, pinned: at === 1, runner: "r" }), {
      isAtRest: at > 1,
    })
    await log.append(id, numberedEvents(700))
  }
  await log.append("t", [
    { at: 5, from: "agent", line: `with a NUL \0 in it`, key: "key \0" },
    { at: 6, from: "client", by: "ann", line: "x".repeat(5_000_000) },
  ])
  await directory.addAsk(pendingAsk("open", { sessionId: "t", toolUseId: "tool" }))
  const settled = pendingAsk("settled", { sessionId: "t" })
  await directory.addAsk(settled)
  await directory.settleAsk("settled", "pending", allowed(settled, "ann"), {
    audit: auditRecord("ask/allowed", "t"),
    uses: { rules: ["r1"], day: "2030-01-01" },
  })
  for (const id of ["valid", "revoked"]) {
    await directory.addToken(token(id))
    await directory.addGrant(grant(id, "t"))
  }
  await directory.revokeToken("revoked", "2031-01-01T00:00:00.000Z")
  await directory.revokeGrant("revoked", "2031-01-01T00:00:00.000Z", "bob")
  await directory.addMessage(waitingMessage("m1", 5, { sessionId: "t" }))
  await directory.markRead("ann", "s", 17)
  await directory.addAudit(auditRecord("session/made", "s"))
  await directory.addPolicy({ rules: [] }, about(), () => auditRecord("policy/changed"))
  await directory.putDocument("settings", { odd: "\0 \ud800" })
}

const about = () => ({
  at: "2030-01-01T00:00:00.000Z",
  by: "ann",
  rules: 0,
  changes: { added: [], removed: [], changed: [], settings: [] },
})

/** All that a hub would read. */
async function everything({ log, directory }: Store): Promise<unknown> {
  const ofSessions = await Promise.all(
    SESSIONS.map(async (id) => ({
      events: await readWhole(log, id),
      session: await directory.getSession(id),
      messages: await directory.openMessages(id),
      calls: await directory.listSeenCalls({ session: id, after: 0, limit: 100 }),
      uses: [...(await directory.ruleUses({ session: id }))],
    })),
  )
  return {
    ofSessions,
    list: await directory.listSessions({ limit: 100 }),
    asks: await directory.listAsks({}),
    tokens: await directory.listTokens({ limit: 100 }),
    usable: await directory.usableTokens("2030-01-01T00:00:00.000Z"),
    grants: await directory.listGrants({ all: true }),
    granted: await directory.listGrants({ session: "t" }),
    audit: await directory.listAudit(AUDIT),
    policies: await directory.listPolicies({ limit: 10 }),
    policy: await directory.getPolicy(),
    settings: await directory.getDocument("settings"),
    marks: [...(await directory.readMarks("ann", SESSIONS))],
    unfinished: await directory.unfinishedSessions(),
    found: await log.find("t", "key \0"),
  }
}

async function withFolders(run: (from: string, to: string, url: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-move-"))
  const database = await openTestDatabase()
  try {
    const folders = await Promise.all(["from", "to"].map((name) => mkdtemp(join(folder, name))))
    await run(folders[0] ?? "", folders[1] ?? "", database.url)
  } finally {
    await database.dispose()
    await rm(folder, { recursive: true })
  }
}

const fileIn = (folder: string) => join(folder, "signalbox.db")
const quiet = () => undefined

async function read(store: Store): Promise<unknown> {
  try {
    return await everything(store)
  } finally {
    await store.close()
  }
}

async function filled(folder: string): Promise<unknown> {
  const store = openStore({ file: fileIn(folder) })
  await fill(store)
  await compressHere(store, fileIn(folder))
  const before = await everything(store)
  await store.close()
  return before
}

describe.runIf(hasPostgres)("move", () => {
  it("[PQ14] there and back everything is the same, with its numbers; what follows gets new ones", () =>
    withFolders(async (from, to, url) => {
      const before = await filled(from)
      const { rows, resumed } = await moveToPostgres(from, url, quiet)
      expect(resumed).toBe(false)
      expect(rows).toMatchObject({ logs: 3, events: 700 * 3 + 2 + 3, policies: 1, documents: 1 })
      const moved = await openPostgresStore({ url })
      expect(await everything(moved)).toEqual(before)
      expect((await moved.log.append("s", numberedEvents(700))).stored).toEqual([])
      await moved.close()
      await moveToSqlite(url, to, quiet)
      const back = openStore({ file: fileIn(to) })
      expect(await everything(back)).toEqual(before)
      expect((await back.log.append("s", numberedEvents(700))).stored).toEqual([])
      await back.log.append("new", numberedEvents(1))
      await back.directory.addAudit(auditRecord("session/made", "new"))
      const { lastSeq } = await back.log.bounds("t")
      expect(lastSeq).toBe(702)
      const ids = (await back.directory.listAudit(AUDIT)).map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      await back.search.caughtUp()
      await back.close()
      expect(await read(openStore({ file: fileIn(from) }))).toEqual(before)
      expect(existsSync(`${fileIn(to)}-unfinished-copy`)).toBe(false)
    }))

  it("[PQ15] an interrupted copy goes on, in either direction, and nothing uses it before it is whole", () =>
    withFolders(async (from, to, url) => {
      const before = await filled(from)
      const interrupt = (at: number) => (done: number) => {
        if (done > at) throw new Error("interrupted")
      }
      for (const at of [1, 600, 1_500]) {
        await expect(moveToPostgres(from, url, interrupt(at))).rejects.toThrow("interrupted")
        await expect(openPostgresStore({ url })).rejects.toThrow(/a copy into .* is not finished: .*signalbox move/)
      }
      expect((await moveToPostgres(from, url, quiet)).resumed).toBe(true)
      expect(await read(await openPostgresStore({ url }))).toEqual(before)
      for (const at of [1, 600, 1_500]) {
        await expect(moveToSqlite(url, to, interrupt(at))).rejects.toThrow("interrupted")
        expect(existsSync(fileIn(to))).toBe(false)
      }
      expect((await moveToSqlite(url, to, quiet)).resumed).toBe(true)
      expect(await read(openStore({ file: fileIn(to) }))).toEqual(before)
    }))

  it("[PQ15] starts over when the store changed since, and refuses what is not its own", () =>
    withFolders(async (from, to, url) => {
      await filled(from)
      await expect(
        moveToPostgres(from, url, (done) => {
          if (done > 1_500) throw new Error("interrupted")
        }),
      ).rejects.toThrow("interrupted")
      const store = openStore({ file: fileIn(from) })
      await store.log.append("s", [{ at: 9, from: "agent", line: "more" }])
      const before = await everything(store)
      await store.close()
      const other = openStore({ file: fileIn(to) })
      await other.log.append("other", numberedEvents(3))
      await other.close()
      await expect(moveToPostgres(to, url, quiet)).rejects.toMatchObject({ code: "data/taken" })
      expect((await moveToPostgres(from, url, quiet)).resumed).toBe(false)
      const moved = await openPostgresStore({ url })
      expect(await everything(moved)).toEqual(before)
      await expect(moveToSqlite(url, await mkdtemp(join(dirname(to), "new")), quiet)).rejects.toThrow(
        /another hub uses .*: stop it/,
      )
      await moved.close()
      await expect(moveToPostgres(from, url, quiet)).rejects.toMatchObject({ code: "data/taken" })
      await expect(moveToSqlite(url, to, quiet)).rejects.toMatchObject({ code: "data/taken" })
    }))

  it("[PQ14] a copy that differs is not used", () =>
    withFolders(async (from, _to, url) => {
      await filled(from)
      const server = await testServer()
      const name = new URL(url).pathname.slice(1)
      let hasChanged: Promise<unknown> | undefined
      const meddle = (done: number, total: number) => {
        if (done > total / 2) hasChanged ??= server.query("UPDATE signalbox.events SET at = 77 WHERE seq = 5", [], name)
      }
      await expect(moveToPostgres(from, url, meddle)).rejects.toThrow(/the copy differs in the events of log \d+/)
      await hasChanged
    }))
})
