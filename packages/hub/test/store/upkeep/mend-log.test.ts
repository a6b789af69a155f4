import { expect, it } from "vitest"
import { openAsIs } from "../../../src/store/database.ts"
import type { Directory } from "../../../src/store/directory.ts"
import { mendLog } from "../../../src/store/upkeep/mend-log.ts"
import { numberedEvents, readWhole, seqs, upTo } from "../../../src/testing/events.ts"
import { allowed, auditRecord, keptSession, pendingAsk, waitingMessage } from "../../../src/testing/records.ts"
import { compressHere, openReopenable } from "../store-folder.ts"

it("[BU10] a log that lost its name gets another, its holes are noted, and what is counted is what is there", async () => {
  const { store, file, reopen, dispose } = await openReopenable()
  await store.directory.saveSession(keptSession("s", { state: "ended" }))
  await store.log.append("s", numberedEvents(300))
  await compressHere(store, file)
  await store.close()
  const database = openAsIs(file)
  database.exec(`
    PRAGMA foreign_keys = OFF;
    DELETE FROM log_sessions WHERE name = 's';
    DELETE FROM events WHERE seq IN (4, 5);
    UPDATE store_marks SET value = 7 WHERE name IN ('cold-bytes', 'block-bytes');
  `)
  database.close()
  expect(await mendLog(file, new Set(["log_sessions", "events"]))).toEqual({ notedEvents: 2, madeSessions: 1 })
  const again = await reopen()
  const { log, directory, compression } = again
  const named = (await directory.listSessions({ limit: 10 })).find(({ id }) => id !== "s")
  const events = await readWhole(log, named?.id ?? "none")
  expect(seqs(events)).toEqual(upTo(300))
  expect(again.size().events).toBe(300)
  expect(compression.bytes.before).toBeGreaterThan(3_000)
  expect(compression.bytes.after).toBeGreaterThan(300)
  await dispose()
})

it("[BU10] events in a lost block are noted, and logs that are no session's are left alone", async () => {
  const { store, file, reopen, dispose } = await openReopenable()
  for (const session of ["s", "purged"]) {
    await store.directory.saveSession(keptSession(session, { state: "ended" }))
    await store.log.append(session, numberedEvents(300))
  }
  // The last event of all is a purged one: its number is held by a log without a name.
  const audit = auditRecord("session/purged", "purged")
  await Promise.all([store.directory.purgeSession("purged", audit), store.log.purge("purged")])
  await store.log.purgeSome()
  await compressHere(store, file)
  await store.close()
  const database = openAsIs(file)
  const [lost = 0] = database.get("SELECT last_seq - first_seq + 1 FROM event_blocks ORDER BY id LIMIT 1", []) ?? []
  database.exec("DELETE FROM event_blocks WHERE id = (SELECT min(id) FROM event_blocks)")
  database.close()
  expect(await mendLog(file, new Set(["event_blocks"]))).toEqual({ notedEvents: lost, madeSessions: 0 })
  const { log } = await reopen()
  const events = await readWhole(log, "s")
  expect(seqs(events)).toEqual(upTo(300))
  expect(events.filter(({ line }) => line.includes("events_lost"))).toHaveLength(Number(lost))
  await dispose()
})

it("[BU10] what stands behind a hole of more than a million events is kept in a session of its own, with all that refers to it", async () => {
  const [hole, gone] = [2_000_000, 2 ** 40]
  const { store, file, reopen, dispose } = await openReopenable()
  for (const session of ["s", "t"]) {
    await store.directory.saveSession(
      keptSession(session, { state: "ended", lastSeq: session === "s" ? hole + 300 : 300 }),
    )
    await store.log.append(session, numberedEvents(300))
  }
  const ask = pendingAsk("a", { seq: hole + 250 })
  await store.directory.addAsk(ask)
  await store.directory.settleAsk("a", "pending", allowed(ask, "ann"))
  await store.directory.addMessage(waitingMessage("m", hole + 260))
  await store.close()
  const damage = (sql: string) => {
    const database = openAsIs(file)
    database.exec(sql)
    database.close()
  }
  const isS = "session = (SELECT id FROM log_sessions WHERE name = 's') AND seq > 200"
  // In "s" so many were lost; in "t" the number of the last one is not what it was.
  damage(`
    UPDATE events SET id = id + ${hole} WHERE NOT (${isS}) AND id > 200;
    UPDATE events SET id = id + ${hole}, seq = seq + ${hole} WHERE ${isS};
    UPDATE event_keys SET seq = seq + ${hole} WHERE ${isS};
    UPDATE events SET seq = ${gone} WHERE seq = 300;
    DELETE FROM events WHERE seq = 299;
  `)
  const compressed = await reopen()
  await compressHere(compressed, file)
  await compressed.close()
  expect(await mendLog(file, new Set(["events"]))).toEqual({ notedEvents: hole, madeSessions: 2 })
  const { log, directory } = await reopen()
  const [s, t] = [await readWhole(log, "s"), await readWhole(log, "t")]
  expect([seqs(s), seqs(t)]).toEqual([upTo(201), upTo(298)])
  expect(JSON.parse(s.at(-1)?.line ?? "")).toEqual({ type: "hub", subtype: "events_lost", count: hole })
  expect([await lastOf(directory, "s"), await lastOf(directory, "t")]).toEqual([201, 298])
  const tail = (await directory.getAsk("a"))?.sessionId ?? "none"
  expect(await directory.getAsk("a")).toEqual({ ...allowed(ask, "ann"), sessionId: tail, seq: 50 })
  expect(await directory.openMessages(tail)).toMatchObject([{ uuid: "m", seq: 60 }])
  const whole = numberedEvents(300)
  expect((await readWhole(log, tail)).map(({ line }) => line)).toEqual(whole.slice(200).map(({ line }) => line))
  expect((await log.append(tail, whole.slice(200))).stored, "an event that was saved is not stored twice").toEqual([])
  const others = (await directory.listSessions({ limit: 9 })).map(({ id }) => id)
  const rest = others.find((id) => !["s", "t", tail].includes(id)) ?? "none"
  expect((await readWhole(log, rest)).map(({ seq, line }) => [seq, line])).toEqual([[1, whole[299]?.line]])
  await dispose()
})

async function lastOf(directory: Directory, session: string): Promise<number | undefined> {
  return (await directory.getSession(session))?.record.lastSeq
}
