import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { awaitTurn } from "../../src/asks/inbox/turns.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it("[A-152] rows are judged one after the other with a frame between, and one that goes gives its turn up", () => {
  const done: number[] = []
  const leave = Array.from({ length: 1000 }, (_, n) => awaitTurn(() => done.push(n)))
  expect(done).toEqual([])
  vi.advanceTimersByTime(0)
  expect(done).toEqual([0])
  leave[1]?.()
  vi.advanceTimersByTime(16)
  expect(done).toEqual([0, 2])
  vi.advanceTimersByTime(16 * 1000)
  expect(done.length).toBe(999)
  expect(vi.getTimerCount()).toBe(0)
  awaitTurn(() => done.push(-1))
  vi.advanceTimersByTime(0)
  expect(done.at(-1)).toBe(-1)
})
