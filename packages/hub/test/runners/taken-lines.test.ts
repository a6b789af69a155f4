import { describe, expect, it } from "vitest"
import { TakenLines } from "../../src/runners/door-socket.ts"

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
})
