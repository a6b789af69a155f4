import { describe, expect, it } from "vitest"
import { Spool } from "../../src/runners/spool.ts"

describe("how far a hub has got with a process's lines", () => {
  it("[HR20] a number is acknowledged when all up to it is durable, and once", () => {
    const spool = new Spool()
    expect(spool.due).toBeUndefined()
    spool.took(1, true)
    spool.took(2, true)
    expect(spool.due).toBe(2)
    spool.took(3, true)
    expect(spool.settled(2, false)).toBe(2)
    expect(spool.due).toBe(3)
    expect(spool.settled(3, false)).toBe(3)
    expect(spool.due).toBeUndefined()
  })

  it("[HR20] the pieces of a sentence in progress stay with the runner until it is complete, but not for ever", () => {
    const spool = new Spool()
    spool.took(1, true)
    spool.took(2, false)
    expect(spool.settled(2, true)).toBe(1)
    spool.took(3, false)
    expect(spool.settled(3, true)).toBeUndefined()
    spool.took(4, false)
    expect(spool.settled(4, false)).toBe(4)
    for (let number = 5; number <= 2_006; number++) spool.took(number, false)
    expect(spool.settled(2_006, true)).toBe(2_006)
  })

  it("[HR21] what is sent again is not new, and its acknowledgement is told again", () => {
    const spool = new Spool()
    spool.took(1, true)
    spool.took(2, true)
    spool.settled(2, false)
    spool.begin()
    expect([1, 2, 3].map((number) => spool.isNew(number))).toEqual([false, false, true])
    expect(spool.due).toBe(2)
    expect(spool.settled(2, false)).toBe(2)
    expect(spool.due).toBeUndefined()
  })

  it("[HR26] what the store did not take is new again", () => {
    const spool = new Spool()
    spool.took(1, true)
    spool.settled(1, false)
    spool.took(2, true)
    spool.took(3, true)
    spool.goBack()
    expect([1, 2, 3].map((number) => spool.isNew(number))).toEqual([false, true, true])
  })
})
