import { describe, expect, it } from "vitest"
import type { Ask } from "../../src/model/ask.ts"
import { type DeskSetup, failure, question, setUpDesk } from "./desk-setup.ts"

const ANN = { by: "ann" }
const FIRST_END = "2026-01-01T00:01:00.000Z"
const ENDS = [FIRST_END, ...["00:02", "00:03", "00:04"].map((minute) => `2026-01-01T${minute}:00.000Z`)]

async function openOne(setup: DeskSetup, verdict: Partial<DeskSetup["verdict"]> = { expiresAfterMs: 60_000 }) {
  setup.verdict = { effect: "ask", rule: "hurry", reason: "…", ...verdict }
  await setup.desk.open(question())
  const ask = setup.published.at(-1)
  if (ask === undefined) throw new Error("no ask was published")
  return ask
}

const live = (setup: DeskSetup) => setup.timers.filter((timer) => !timer.isCancelled)

describe("more time for an ask", () => {
  it("[AK18] is as long again as its rule gave it, three times unless the rule says otherwise", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    expect(ask).toMatchObject({ expiresAt: ENDS[0], extension: { byMs: 60_000, left: 3 } })
    for (const [index, left] of [2, 1, 0].entries()) {
      const longer = await setup.desk.extend(ask.id, ANN)
      expect(longer).toMatchObject({ state: "pending", expiresAt: ENDS[index + 1], extension: { left } })
      expect(setup.published.at(-1)).toEqual(longer)
    }
    const refused = await failure(setup.desk.extend(ask.id, ANN))
    expect([refused.code, refused.status]).toEqual(["ask/not-extendable", 409])
    expect(setup.desk.pendingCount("s1")).toBe(1)
    expect(live(setup)).toHaveLength(1)
  })

  it("[CT6] an ask expires by the time that all hubs have", async () => {
    const setup = setUpDesk()
    setup.now = () => new Date("2026-01-01T00:00:20.000Z")
    const { id } = await openOne(setup)
    expect(live(setup).map(({ ms }) => ms)).toEqual([40_000])
    live(setup)[0]?.run()
    await expect.poll(async () => setup.desk.pendingCount("s1")).toBe(0)
    expect(await setup.directory.getAsk(id)).toMatchObject({ state: "expired", settledAt: "2026-01-01T00:00:20.000Z" })
  })

  it("[AK18] is not for one that does not expire, nor where the rule forbids it", async () => {
    const setup = setUpDesk()
    const lasting = await openOne(setup, {})
    expect((await failure(setup.desk.extend(lasting.id, ANN))).message).toContain("does not expire")
    const strict = setUpDesk()
    const { id } = await openOne(strict, { expiresAfterMs: 60_000, maxExtensions: 0 })
    expect((await failure(strict.desk.extend(id, ANN))).code).toBe("ask/not-extendable")
    expect((await failure(strict.desk.extend("ask_nowhere", ANN))).code).toBe("ask/unknown")
  })

  it("[AK18] once, however many ask for it with the same end in view", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const all = Array.from({ length: 10 }, (_, n) => setup.desk.extend(ask.id, { by: `p${n}`, expiresAt: FIRST_END }))
    const ends = (await Promise.all(all)).map((longer: Ask) => longer.expiresAt)
    expect(new Set(ends)).toEqual(new Set([ENDS[1]]))
    const records = await setup.directory.listAudit({ after: 0, limit: 20 })
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({ what: "ask/extended", by: "p0", via: "person", askId: ask.id, sessionId: "s1" })
    expect(records[0]?.details).toMatchObject({ before: ENDS[0], expiresAt: ENDS[1], left: 2 })
  })

  it("[AK18] whichever way the end in view is written", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    for (const [index, expiresAt] of ["2026-01-01T00:01:00Z", "2026-01-01T01:02:00+01:00"].entries())
      expect(await setup.desk.extend(ask.id, { ...ANN, expiresAt })).toMatchObject({ expiresAt: ENDS[index + 1] })
    const late = await setup.desk.extend(ask.id, { ...ANN, expiresAt: "2026-01-01T00:02:00Z" })
    expect(late).toMatchObject({ expiresAt: ENDS[2], extension: { left: 1 } })
  })

  it("[AK18] the end it had is no end any more, and the new one is", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    // Due in the moment in which more time is given.
    const extending = setup.desk.extend(ask.id, ANN)
    setup.timers[0]?.run()
    await extending
    await Promise.resolve()
    expect(setup.desk.pendingCount("s1")).toBe(1)
    live(setup)[0]?.run()
    await expect.poll(() => setup.published.at(-1)?.state).toBe("expired")
    expect(setup.published.at(-1)?.expiresAt).toBe(ENDS[1])
    const late = await failure(setup.desk.extend(ask.id, ANN))
    expect([late.code, late.details["ask"]]).toEqual(["ask/settled", expect.objectContaining({ state: "expired" })])
  })

  it("[AK18] an answer beside it stands, and nothing is told as open after that", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const answering = { by: "bob", via: "person" } as const
    const [, settled] = await Promise.all([
      setup.desk.extend(ask.id, ANN).catch(() => undefined),
      setup.desk.answer(ask.id, { behavior: "allow" }, answering),
    ])
    expect(settled).toMatchObject({ state: "allowed", expiresAt: ENDS[1] })
    expect(setup.published.at(-1)?.state).toBe("allowed")
    expect(live(setup)).toEqual([])
  })

  it("[AK18] a store that refuses it leaves the end as it was", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const settleAsk = setup.directory.settleAsk.bind(setup.directory)
    setup.directory.settleAsk = () => Promise.reject(new Error("full"))
    expect((await failure(setup.desk.extend(ask.id, ANN))).message).toBe("full")
    setup.directory.settleAsk = settleAsk
    expect(setup.desk.pendingOf("s1")[0]?.expiresAt).toBe(ENDS[0])
    expect((await setup.desk.extend(ask.id, ANN)).expiresAt).toBe(ENDS[1])
  })

  it("[AK18] survives a restart", async () => {
    const before = setUpDesk()
    const ask = await openOne(before)
    await before.desk.extend(ask.id, ANN)
    const after = setUpDesk(before.directory)
    await after.desk.restore("s1")
    expect(after.desk.pendingOf("s1")[0]).toMatchObject({ expiresAt: ENDS[1], extension: { byMs: 60_000, left: 2 } })
    after.timers[0]?.run()
    await expect.poll(() => after.published.at(-1)?.state).toBe("expired")
  })
})
