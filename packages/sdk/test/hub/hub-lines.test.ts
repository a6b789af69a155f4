import { describe, expect, it } from "vitest"
import { HubLines } from "../../src/hub/hub-lines.ts"

describe("lines from a hub", () => {
  it("[Q72] history is dealt with when its reader asks for more, not when it takes it", async () => {
    const lines = new HubLines()
    lines.push("a")
    let isDealtWith = false
    const dealtWith = lines.dealtWith().finally(() => {
      isDealtWith = true
    })
    const reader = lines.batches[Symbol.asyncIterator]()
    expect(await reader.next()).toEqual({ value: ["a"], done: false })
    expect(isDealtWith).toBe(false)
    const next = reader.next()
    await dealtWith
    lines.push("b")
    expect(await next).toEqual({ value: ["b"], done: false })
    lines.end()
    expect(await reader.next()).toEqual({ value: undefined, done: true })
  })

  it("[Q31] the log is not read on while much waits, and an end lets go of everybody", async () => {
    const lines = new HubLines()
    lines.push("x".repeat(2 * 1024 * 1024))
    let hasRoom = false
    const room = lines.room().finally(() => {
      hasRoom = true
    })
    const reader = lines.batches[Symbol.asyncIterator]()
    expect(hasRoom).toBe(false)
    await reader.next()
    await room
    lines.push("x".repeat(2 * 1024 * 1024))
    const waiting = Promise.all([lines.room(), lines.dealtWith()])
    lines.end()
    await waiting
  })
})
