import { execFile, spawn } from "node:child_process"
import { dirname } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { beforeAll, describe, expect, it } from "vitest"
import { openStore } from "../../src/store/open-store.ts"
import { readWhole, upTo } from "../../src/testing/events.ts"
import { withFile } from "./store-folder.ts"

const APPENDING = fileURLToPath(new URL("./append-forever.mjs", import.meta.url))
const COMPRESSING = fileURLToPath(new URL("./compress-forever.mjs", import.meta.url))
const ROOT = dirname(dirname(dirname(dirname(dirname(APPENDING)))))
const ROUNDS = 5
const SESSIONS = ["one", "two", "three"]

interface Confirmed {
  readonly lastSeq: number
  readonly document: number
}

/** Lets it write until it has said so many lines, then kills it in the middle of whatever it does. */
async function runAndKill(args: readonly string[], after: number): Promise<Map<string, Confirmed>> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] })
  const exited = new Promise<string | null>((resolve) => child.once("exit", (_, signal) => resolve(signal)))
  const confirmed = new Map<string, Confirmed>()
  let lines = 0
  for await (const line of createInterface({ input: child.stdout })) {
    const [session = "", lastSeq, document] = line.split(" ")
    if (session !== "ready") confirmed.set(session, { lastSeq: Number(lastSeq), document: Number(document) })
    lines++
    if (lines === after) child.kill("SIGKILL")
  }
  expect(await exited).toBe("SIGKILL")
  return confirmed
}

describe("a store whose process is killed", () => {
  beforeAll(() => promisify(execFile)("npx", ["tsc", "-b", "packages/hub"], { cwd: ROOT }))

  it("[JL6] everything confirmed is there after SIGKILL at any moment, dense, and the next process goes on", () =>
    withFile(async (file) => {
      const seed = 20_260
      let random = seed
      for (let round = 0; round < ROUNDS; round++) {
        random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0
        const after = 1 + (random % 300)
        const where = `seed ${seed}, round ${round}, killed after ${after}`
        const confirmed = await runAndKill([APPENDING, file, String(random), `round-${round}`], after)
        const store = openStore({ file })
        for (const session of SESSIONS) {
          const { lastSeq = 0, document = -1 } = confirmed.get(session) ?? {}
          const events = await readWhole(store.log, session)
          const seqs = events.map((event) => event.seq)
          expect(seqs.length, where).toBeGreaterThanOrEqual(lastSeq)
          expect(seqs, where).toEqual(upTo(seqs.length))
          expect((await store.log.append(session, events)).stored, `keys are known again: ${where}`).toEqual([])
          const kept = await store.directory.getDocument(`${session} round-${round}`)
          expect(Number(kept ?? -1), where).toBeGreaterThanOrEqual(document)
        }
        await store.search.caughtUp()
        await store.close()
      }
    }))

  it("[JL44] nothing is lost when it is killed while it compresses, and the next process goes on compressing", () =>
    withFile(async (file) => {
      let random = 4_711
      for (let round = 0; round < 3; round++) {
        random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0
        // Each has said what it appended, and that it is at it.
        const after = SESSIONS.length + 1 + (random % 40)
        const where = `round ${round}, killed after ${after}`
        const confirmed = await runAndKill([COMPRESSING, file], after)
        const store = openStore({ file })
        for (const session of SESSIONS) {
          const events = await readWhole(store.log, session)
          expect(events.length, where).toBeGreaterThanOrEqual(confirmed.get(session)?.lastSeq ?? 0)
          expect(
            events.map(({ seq }) => seq),
            where,
          ).toEqual(upTo(events.length))
          for (const { seq, line } of events) expect(JSON.parse(line), where).toMatchObject({ type: "user", seq })
        }
        await store.close()
      }
      const store = openStore({ file })
      const { before } = store.compression.bytes
      expect(before).toBeGreaterThan(0)
      // It may have been killed when all there was had been compressed.
      const { lastSeq: last } = await store.log.bounds("one")
      const line = (seq: number) =>
        JSON.stringify({ type: "user", seq, fill: "some words again and again ".repeat(20) })
      const more = upTo(400).map((number) => ({ at: 1, from: "agent" as const, line: line(last + number) }))
      await store.log.append("one", more)
      await store.compression.compressAll()
      expect(store.compression.bytes.before).toBeGreaterThan(before)
      for (const session of SESSIONS) {
        for (const { seq, line } of await readWhole(store.log, session)) expect(JSON.parse(line)).toMatchObject({ seq })
      }
      await store.close()
    }))
})
