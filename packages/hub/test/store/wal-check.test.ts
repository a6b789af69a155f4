import { chmodSync, copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import LibsqlDatabase from "libsql"
import { describe, expect, it } from "vitest"
import { openStore } from "../../src/store/open-store.ts"
import { checkWriteAheadLog } from "../../src/store/wal-check.ts"
import { withFile } from "./store-folder.ts"

const FRAME_BYTES = 24 + 4096

/** The files of a store that was killed with `count` transactions in its write-ahead log, under another name. */
async function killed(file: string, count: number): Promise<string> {
  const store = openStore({ file })
  for (let n = 0; n < count; n++) {
    await store.log.append("s", [{ at: n, from: "agent", line: JSON.stringify({ n, fill: "x".repeat(5_000) }) }])
  }
  const copy = join(dirname(file), "killed.db")
  for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end)
  await store.close()
  return copy
}

function damage(file: string, at: number): void {
  const bytes = readFileSync(file)
  bytes[at] = (bytes[at] ?? 0) ^ 0xff
  writeFileSync(file, bytes)
}

async function lastSeqOf(file: string): Promise<number> {
  const store = openStore({ file })
  try {
    return (await store.log.bounds("s")).lastSeq
  } finally {
    await store.close()
  }
}

describe("a write-ahead log", () => {
  it("[JL30] that is whole is taken, and so is one whose last transaction was cut off anywhere", async () => {
    await withFile(async (file) => {
      const copy = await killed(file, 20)
      checkWriteAheadLog(copy)
      const size = statSync(`${copy}-wal`).size
      for (const cut of [1, 23, 24, 25, 4_000, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES + 7]) {
        truncateSync(`${copy}-wal`, size - cut)
        expect(() => checkWriteAheadLog(copy), `without the last ${cut}`).not.toThrow()
      }
      expect(await lastSeqOf(copy)).toBeGreaterThan(15)
      expect(await lastSeqOf(file)).toBe(20)
      checkWriteAheadLog(join(dirname(file), "none.db"))
    })
  })

  it("[JL30] whose last frame was only half written is taken", async () => {
    await withFile(async (file) => {
      const copy = await killed(file, 5)
      damage(`${copy}-wal`, statSync(`${copy}-wal`).size - 10)
      expect(() => checkWriteAheadLog(copy)).not.toThrow()
    })
  })

  it("[JL30] that began anew in an older one's file is taken, and damage in it is found all the same", async () => {
    await withFile(async (file) => {
      const database = new LibsqlDatabase(file)
      database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x)")
      const fill = () => database.exec("INSERT INTO t VALUES (randomblob(3000))")
      for (let n = 0; n < 50; n++) fill()
      database.prepare("PRAGMA wal_checkpoint(RESTART)").all()
      for (let n = 0; n < 5; n++) fill()
      checkWriteAheadLog(file)
      const copy = join(dirname(file), "copy.db")
      for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end)
      database.close()
      damage(`${copy}-wal`, 32 + 24 + 100)
      expect(() => checkWriteAheadLog(copy)).toThrow("is damaged at byte 32,")
    })
  })

  it.each([
    ["its first byte", 0, 0],
    ["its salt", 18, 0],
    ["its first page", 32 + 24 + 1_000, 32],
    ["the mark of a frame", 32 + 3 * FRAME_BYTES + 9, 32 + 3 * FRAME_BYTES],
    ["the sum of a frame", 32 + 4 * FRAME_BYTES + 17, 32 + 4 * FRAME_BYTES],
  ])("[JL30] that is damaged in %s keeps the store closed, and is kept as it is", async (_what, at, told) => {
    await withFile(async (file) => {
      const copy = await killed(file, 20)
      damage(`${copy}-wal`, at)
      const content = () => readFileSync(copy, "base64") + readFileSync(`${copy}-wal`, "base64")
      const before = content()
      expect(() => openStore({ file: copy })).toThrow(
        expect.objectContaining({
          code: "start/damaged",
          message: expect.stringContaining(`truncate -s ${told} '${copy}-wal'`),
        }),
      )
      expect(content() === before).toBe(true)
      expect(existsSync(`${copy}-shm`)).toBe(false)
      // As the message says.
      truncateSync(`${copy}-wal`, told)
      expect(await lastSeqOf(copy)).toBeLessThan(20)
    })
  })
})

it("[JL31] the files of the store are the owner's alone, also those that an older version made", async () => {
  await withFile(async (file) => {
    const before = process.umask(0o022)
    try {
      const index = join(dirname(file), "search.db")
      const modes = (of: string) =>
        ["", "-wal", "-shm"].filter((end) => existsSync(of + end)).map((end) => statSync(of + end).mode & 0o777)
      for (const round of ["new", "old"]) {
        const store = openStore({ file })
        await store.log.append("s", [{ at: 1, from: "agent", line: '{"type":"said"}' }])
        await store.search.search({ q: "said", limit: 1 }).catch(() => undefined)
        expect(modes(file), round).toEqual([0o600, 0o600, 0o600])
        expect(new Set(modes(index)), round).toEqual(new Set([0o600]))
        await store.close()
        for (const name of [file, index]) chmodSync(name, 0o644)
      }
    } finally {
      process.umask(before)
    }
  })
})
