import { describe, expect, it } from "vitest"
import { Outlines } from "../../src/session/outline.ts"
import { openDatabase } from "../../src/store/database.ts"
import { SessionTable } from "../../src/store/directory/sessions.ts"
import type { ListPlace, SessionFilter } from "../../src/store/directory.ts"
import { migrate } from "../../src/store/migrations/index.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"
import { keptSession } from "../../src/testing/records.ts"
import { withFile } from "./store-folder.ts"

const COUNT = 10_000
/** Each hundredth is pinned, each thousandth has the word. */
const everyHundredth = (n: number) => n % 100 === 0
const WANTED = Array.from({ length: COUNT / 1_000 }, (_, n) => `s${String(n * 1_000).padStart(5, "0")}`)

async function withManySessions(run: (sessions: SessionTable) => Promise<void>): Promise<void> {
  await withFile(async (file) => {
    const database = openDatabase(file)
    try {
      migrate(database)
      const sessions = new SessionTable(database)
      database.exec("BEGIN")
      for (let n = 0; n < COUNT; n++) {
        const id = `s${String(n).padStart(5, "0")}`
        const title = n % 1_000 === 0 ? "The Needle" : "hay"
        const kept = keptSession(id, { title, state: "ended", pinned: everyHundredth(n) && n % 2_000 !== 0 })
        sessions.save(kept, true)
      }
      database.exec("COMMIT")
      await run(sessions)
    } finally {
      database.close()
    }
  })
}

describe("[JL33] whoever looks at much lets others have their turn", () => {
  it("when words are looked for in the list of sessions, which has every hit once and in order", () =>
    withManySessions(async (sessions) => {
      let turns = 0
      const find = async (filter: Partial<SessionFilter>) => {
        turns = 0
        const nextTurn = async () => void turns++
        return (await sessions.list({ limit: 100, ...filter }, nextTurn)).map(({ id }) => id)
      }
      const pinned = WANTED.filter((_, n) => n % 2 === 1).toReversed()
      const others = WANTED.filter((_, n) => n % 2 === 0).toReversed()
      expect(await find({ q: "needle" })).toEqual([...pinned, ...others])
      expect(turns).toBe(2)
      expect(await find({ q: "needle", state: "ended" })).toEqual([...pinned, ...others])
      expect(turns).toBe(2)
      expect(await find({ q: "needle", state: "idle" })).toEqual([])
      expect(await find({ q: "nothing" })).toEqual([])
      expect(turns).toBe(2)
      const [at] = await sessions.list({ limit: 1 }, async () => undefined)
      const before: ListPlace = { pinned: false, createdAt: at?.createdAt ?? "", id: "s03000" }
      expect(await find({ q: "needle", before })).toEqual(["s02000", "s00000"])
      expect(await find({ q: "needle", limit: 6 })).toEqual([...pinned, others[0]])
      expect(await find({ limit: 3 })).toEqual(["s09900", "s09800", "s09700"])
      expect(turns).toBe(0)
    }))

  it("when the outline of a long session is read", async () => {
    const log = new MemoryEventLog()
    const line = JSON.stringify({ type: "result", subtype: "success", result: "done" })
    await log.append(
      "s",
      Array.from({ length: 2_000 }, () => ({ at: 0, from: "agent" as const, line })),
    )
    let turn = 0
    const count = () => {
      turn++
      ticking = setImmediate(count)
    }
    let ticking = setImmediate(count)
    const turns: number[] = []
    const read: MemoryEventLog["read"] = (session, range) => {
      turns.push(turn)
      return log.read(session, range)
    }
    expect(await new Outlines({ read }).of("s", 2_000)).toHaveLength(2_000)
    clearImmediate(ticking)
    expect(turns.length).toBeGreaterThanOrEqual(8)
    expect(new Set(turns).size).toBe(turns.length)
  })
})
