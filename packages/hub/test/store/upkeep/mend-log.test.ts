import { expect, it } from "vitest"
import { openAsIs } from "../../../src/store/database.ts"
import { mendLog } from "../../../src/store/upkeep/mend-log.ts"
import { numberedEvents, readWhole, seqs, upTo } from "../../../src/testing/events.ts"
import { auditRecord, keptSession } from "../../../src/testing/records.ts"
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
