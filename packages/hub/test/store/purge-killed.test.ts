import { execFile, spawn } from "node:child_process"
import { dirname } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, describe, expect, it } from "vitest"
import { openStore } from "../../src/store/open-store.ts"
import { readWhole, seqs, upTo } from "../../src/testing/events.ts"
import { withFile } from "./store-folder.ts"

const CHILD = fileURLToPath(new URL("./purge-forever.mjs", import.meta.url))
const ROOT = dirname(dirname(dirname(dirname(dirname(CHILD)))))
const ROUNDS = 4

/** Lets it purge so many sessions and kills it a little later. */
async function purgeAndKill(file: string, round: string, after: { readonly purges: number; readonly lines: number }) {
  const child = spawn(process.execPath, [CHILD, file, round], { stdio: ["ignore", "pipe", "inherit"] })
  const exited = new Promise<string | null>((resolve) => child.once("exit", (_, signal) => resolve(signal)))
  const purged: string[] = []
  let kept = 0
  let lines = 0
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("purged ")) purged.push(line.slice("purged ".length))
    else kept = Number(line.slice("kept ".length))
    if (purged.length >= after.purges && ++lines === after.lines) child.kill("SIGKILL")
  }
  expect(await exited).toBe("SIGKILL")
  return { purged, kept }
}

describe("a store whose process is killed in the middle of a purge", () => {
  beforeAll(() => promisify(execFile)("npx", ["tsc", "-b", "packages/hub"], { cwd: ROOT }))

  it(
    "[PG11] purged sessions stay gone, others lose nothing, and the rest is deleted after the next start",
    () =>
      withFile(async (file) => {
        let interrupted = 0
        for (let round = 0; round < ROUNDS; round++) {
          const { purged, kept } = await purgeAndKill(file, `r${round}`, { purges: 1 + round, lines: 1 + round * 20 })
          const store = openStore({ file })
          for (const id of purged) {
            expect(await store.directory.getSession(id)).toBeUndefined()
            expect(await store.log.bounds(id)).toEqual({ firstSeq: 0, lastSeq: 0 })
            expect(await store.directory.listAudit({ session: id, after: 0, limit: 9 })).toHaveLength(1)
          }
          const events = await readWhole(store.log, "kept")
          expect(events.length).toBeGreaterThanOrEqual(kept)
          expect(seqs(events)).toEqual(upTo(events.length))
          const before = store.size().events
          store.purger.wake()
          await store.purger.settled()
          if (store.size().events < before) interrupted++
          // A session that was being filled when the process died is there, whole.
          const unfinished = (await store.directory.listSessions({ limit: 9 })).map(({ id }) => id)
          const sizes = await Promise.all(unfinished.map((id) => store.log.bounds(id)))
          expect(store.size().events).toBe(events.length + sizes.reduce((sum, { lastSeq }) => sum + lastSeq, 0))
          expect((await store.log.append("kept", events)).stored).toEqual([])
          await store.close()
        }
        expect(interrupted).toBeGreaterThan(0)
      }),
    240_000,
  )
})
