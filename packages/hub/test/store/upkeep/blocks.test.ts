import { readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { databaseIn, openAsIs } from "../../../src/store/database.ts"
import { readWhole, seqs, upTo } from "../../../src/testing/events.ts"
import { backUpData, checkData, restoreData, salvageData } from "../../../src/upkeep.ts"
import { compressHere } from "../store-folder.ts"
import { eventsOf, fill, inFolders, SESSIONS, withStoreIn } from "./data-folder.ts"

const EVENTS = 300

/** Returns how many events are in it. */
function damageBlock(file: string): number {
  const database = openAsIs(file)
  try {
    const one = "SELECT id, last_seq - first_seq + 1 FROM event_blocks ORDER BY id LIMIT 1 OFFSET 1"
    const [id = 0, events = 0] = database.get(one, []) ?? []
    expect(database.run("UPDATE event_blocks SET body = zeroblob(length(body)) WHERE id = ?", [id])).toBe(1)
    return Number(events)
  } finally {
    database.close()
  }
}

it("[BU14] a block of compressed lines that can't be unpacked is damage to doctor and backup, and lost events to salvage", () =>
  inFolders(async (folder) => {
    const [data, saved, backups] = [folder("data"), folder("saved"), folder("backups")]
    await fill(data, EVENTS)
    await withStoreIn(data, (store) => compressHere(store, databaseIn(data)))
    expect(await checkData(data)).toMatchObject({ state: "sound", rows: { events: 3 * EVENTS } })
    await backUpData(data, join(backups, "good"))
    const lost = damageBlock(databaseIn(data))
    const found = await checkData(data)
    expect(found).toMatchObject({ state: "damaged", why: expect.stringMatching(/^block \d+ .* can't be unpacked: /) })
    expect("readable" in found && found.readable.find(({ table }) => table === "events")).toMatchObject({
      saved: 3 * EVENTS - lost,
      lost,
    })
    const refusal = { code: "data/failed", message: expect.stringMatching(/can't be unpacked.*signalbox doctor/) }
    await expect(backUpData(data, join(backups, "bad"))).rejects.toMatchObject(refusal)
    expect(readdirSync(backups)).toEqual(["good"])
    expect((await salvageData(data, saved)).notedEvents).toBe(lost)
    expect(await checkData(saved)).toMatchObject({ state: "sound", rows: { events: 3 * EVENTS } })
    await withStoreIn(saved, async ({ log }) => {
      let notes = 0
      for (const session of SESSIONS) {
        const events = await readWhole(log, session)
        expect(seqs(events)).toEqual(upTo(EVENTS))
        notes += events.filter(({ line }) => line.includes("events_lost")).length
        const whole = eventsOf(session, EVENTS)
        expect((await log.append(session, whole)).stored, "keys are known").toEqual([])
      }
      expect(notes).toBe(lost)
    })
    damageBlock(join(backups, "good"))
    expect(await restoreData(join(backups, "good"), folder("restored"))).toMatchObject({ rows: { sessions: 3 } })
  }))
