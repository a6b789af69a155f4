import { describe, expect, it } from "vitest"
import { KnownSlots } from "../../src/store/slot-set.ts"

describe("the keys of sessions that began with this process", () => {
  it("[JL35] are known for no more sessions than there is room for, and for the newest of them", () => {
    const known = new KnownSlots()
    const sessions = 200_000
    for (let session = 1; session <= sessions; session++) known.begin(session)
    const count = () => Array.from({ length: sessions }, (_, index) => known.of(index + 1)).filter(Boolean).length
    expect(count()).toBeGreaterThan(40_000)
    expect(count()).toBeLessThan(60_000)
    expect([known.of(1), known.of(sessions) === undefined]).toEqual([undefined, false])
    // One that began again counts once.
    for (let again = 0; again < sessions; again++) known.begin(sessions)
    expect(count()).toBeGreaterThan(40_000)
  })

  it("[JL35] take room from the oldest as they become more, and a session with very many is not known", () => {
    const known = new KnownSlots()
    const fill = (session: number, slots: number) => {
      known.begin(session)
      for (let slot = 0; slot < slots; slot++) known.add(session, slot * 2 ** 20)
    }
    for (let session = 1; session <= 10; session++) fill(session, 130_000)
    const sessions = Array.from({ length: 10 }, (_, index) => index + 1)
    expect(sessions.filter((session) => known.of(session) !== undefined)).toEqual([4, 5, 6, 7, 8, 9, 10])
    expect([known.of(10)?.has(129_999 * 2 ** 20), known.of(10)?.has(1)]).toEqual([true, false])
    fill(11, 131_072)
    expect(known.of(11)).toBeUndefined()
    known.forget(10)
    expect(known.of(10)).toBeUndefined()
  })
})
