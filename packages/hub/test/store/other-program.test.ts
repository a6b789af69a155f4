import { execFile } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { openSession, openStage } from "../clients/stage.ts"
import { rest, WAIT } from "../runners/launching.ts"

const ROOM = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const READER = `
  import Database from "libsql"
  const database = new Database(process.argv[1])
  console.log(database.prepare("SELECT count(*) AS count FROM sessions").get().count)
  database.close()
`

it("[JL32] another program that reads the database and closes it leaves the hub's write-ahead log alone", async () => {
  const stage = await openStage()
  const file = join(stage.folder, "signalbox.db")
  const log = `${file}-wal`
  await openSession(stage)
  // The thread of the search has the database open too, and opened it last.
  await expect.poll(async () => (await rest(stage, "GET", "/api/search?q=word")).status, WAIT).toBe(200)
  const { ino } = statSync(log)
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", READER, file], {
    cwd: ROOM,
  })
  expect(stdout.trim()).toBe("1")
  expect(existsSync(log) && statSync(log).ino).toBe(ino)
})
