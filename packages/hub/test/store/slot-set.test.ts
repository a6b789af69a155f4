import { describe, expect, it } from "vitest"
import { keySlot } from "../../src/store/key-slot.ts"
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
    // One that begins again counts once.
    const before = count()
    for (let again = 0; again < 1_000; again++) known.begin(sessions)
    expect(count()).toBe(before)
  })

  it("[JL35] take room from the oldest as they become more, and a session with very many is not known", () => {
    const known = new KnownSlots()
    const fill = (session: number, slots: number) => {
      known.begin(session)
      for (let n = 0; n < slots; n++) known.add(session, keySlot(`key ${n}`))
    }
    for (let session = 1; session <= 10; session++) fill(session, 130_000)
    const sessions = Array.from({ length: 10 }, (_, index) => index + 1)
    expect(sessions.filter((session) => known.of(session) !== undefined)).toEqual([5, 6, 7, 8, 9, 10])
    const has = (key: string) => known.of(10)?.has(keySlot(key))
    expect([has("key 0"), has("key 129999"), has("key 130000")]).toEqual([true, true, false])
    fill(11, 131_073)
    expect(known.of(11)).toBeUndefined()
    known.forget(10)
    expect(known.of(10)).toBeUndefined()
  })
})
