import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { takeDataLock } from "../../src/operations/data-lock.ts"
import { checkData } from "../../src/upkeep.ts"

let data = ""
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "signalbox-lock-"))
})
afterEach(() => rmSync(data, { recursive: true }))

/** Another process that looks, for a moment. */
const LOOKS = `
  const database = new (require("libsql"))(process.argv[1])
  database.exec("BEGIN EXCLUSIVE")
  process.stdout.write("held")
  setTimeout(() => database.exec("ROLLBACK"), 200)
`

describe("the lock of a data directory", () => {
  it("[BU16] a hub that starts waits for a command that looks whether one runs", async () => {
    takeDataLock(data).release()
    const looking = spawn(process.execPath, ["-e", LOOKS, join(data, "lock")], { stdio: ["ignore", "pipe", "inherit"] })
    await once(looking.stdout, "data")
    takeDataLock(data, 5_000).release()
    await once(looking, "exit")
  })

  it("[BU16] one that can't be opened is told as that, and not as another hub", async () => {
    mkdirSync(join(data, "lock"))
    const refusal = { code: "start/data-directory", message: expect.stringMatching(/can't open .*lock.*permissions/) }
    expect(() => takeDataLock(data)).toThrow(expect.objectContaining(refusal))
    mkdirSync(join(data, "signalbox.db"))
    await expect(checkData(data)).rejects.toMatchObject(refusal)
  })
})
