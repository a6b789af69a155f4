import { describe, expect, it } from "vitest"
import { TakenLines, TakenOfProcesses } from "../../src/runners/door-socket.ts"

describe("how far a hub has got with a process's lines", () => {
  it("[HR20] a number is acknowledged when all up to it is durable, and once", () => {
    const taken = new TakenLines()
    expect(taken.due).toBeUndefined()
    taken.took(1, true)
    taken.took(2, true)
    expect(taken.due).toBe(2)
    taken.took(3, true)
    expect(taken.settled(2, false)).toBe(2)
    expect(taken.due).toBe(3)
    expect(taken.settled(3, false)).toBe(3)
    expect(taken.due).toBeUndefined()
  })

  it("[HR20] the pieces of a sentence in progress stay with the runner until it is complete, but not for ever", () => {
    const taken = new TakenLines()
    taken.took(1, true)
    taken.took(2, false)
    expect(taken.settled(2, true)).toBe(1)
    taken.took(3, false)
    expect(taken.settled(3, true)).toBeUndefined()
    taken.took(4, false)
    expect(taken.settled(4, false)).toBe(4)
    for (let number = 5; number <= 2_006; number++) taken.took(number, false)
    expect(taken.settled(2_006, true)).toBe(2_006)
  })

  it("[HR21] what is sent again is not new, and its acknowledgement is told again", () => {
    const taken = new TakenLines()
    taken.took(1, true)
    taken.took(2, true)
    taken.settled(2, false)
    taken.begin()
    expect([1, 2, 3].map((number) => taken.isNew(number))).toEqual([false, false, true])
    expect(taken.due).toBe(2)
    expect(taken.settled(2, false)).toBe(2)
    expect(taken.due).toBeUndefined()
  })

  it("[HR26] what the store did not take is new again", () => {
    const taken = new TakenLines()
    taken.took(1, true)
    taken.settled(1, false)
    taken.took(2, true)
    taken.took(3, true)
    taken.goBack()
    expect([1, 2, 3].map((number) => taken.isNew(number))).toEqual([false, true, true])
  })

  it("[HR26] what an object of the session took that left before it was in the log is new to the next one", () => {
    const all = new TakenOfProcesses(2)
    const [left, back] = [{ holder: {} }, { holder: {} }]
    const before = all.of("p1", left)
    before.took(1, true)
    expect(all.of("p1", left)).toBe(before)
    expect(all.of("p1", left).isNew(1)).toBe(false)
    expect(all.of("p1", back).isNew(1)).toBe(true)
  })

  it("[HR21] a process whose conversation went on in another session is the same to that one", () => {
    const all = new TakenOfProcesses(2)
    const next = { holder: {} }
    const taken = all.of("p1", { holder: next })
    expect(all.of("p1", next)).toBe(taken)
  })

  it("[HR21] of too many processes the one that was not here for longest is forgotten", () => {
    const all = new TakenOfProcesses(2)
    const session = { holder: {} }
    const taken = ["p1", "p2"].map((spawn) => all.of(spawn, session))
    expect(all.of("p1", session)).toBe(taken[0])
    all.of("p3", session)
    expect(all.of("p1", session)).toBe(taken[0])
    expect(all.of("p2", session)).not.toBe(taken[1])
  })
})
