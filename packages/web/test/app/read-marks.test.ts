import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { ReadMarks } from "../../src/app/read-marks.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function readMarks(answer: () => Promise<unknown> = async () => undefined) {
  const told: string[] = []
  const marks = new ReadMarks((session, seq) => {
    told.push(`${session} ${seq}`)
    return answer()
  })
  const shown = (session: string) => marks.marks.get().get(session)
  return { marks, told, shown }
}

it("[S-100] what is read is marked at once, and told to the hub at most every two seconds", async () => {
  const { marks, told, shown } = readMarks()
  for (let seq = 1; seq <= 100; seq++) marks.mark("a", seq)
  expect([shown("a"), told]).toEqual([100, []])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(told).toEqual(["a 100"])
  marks.mark("a", 100)
  marks.mark("a", 7)
  await vi.advanceTimersByTimeAsync(60_000)
  expect([shown("a"), told]).toEqual([100, ["a 100"]])
  // The page is left.
  marks.mark("a", 101)
  await marks.tellNow()
  expect(told).toEqual(["a 100", "a 101"])
})

it("[S-100] what this person read elsewhere counts, and is not told again; a mark never goes back", async () => {
  const { marks, told, shown } = readMarks()
  marks.take({ a: 5, b: 2 })
  const before = marks.marks.get()
  marks.take({ a: 4 })
  expect(marks.marks.get()).toBe(before)
  marks.mark("a", 5)
  await vi.advanceTimersByTimeAsync(10_000)
  expect([shown("a"), shown("b"), told]).toEqual([5, 2, []])
})

it("[S-100] what was read while the hub was away is told when it is back, of at most 200 sessions", async () => {
  let isAway = true
  const { marks, told } = readMarks(() => (isAway ? Promise.reject(new Error("away")) : Promise.resolve()))
  for (let index = 0; index < 250; index++) marks.mark(`s${index}`, 1)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told).toEqual(["s50 1"])
  isAway = false
  await marks.tellNow()
  expect(told).toHaveLength(201)
  expect(told.at(-1)).toBe("s249 1")
})

it("[S-100] what is read while the hub is told waits for the next time, and another person begins with nothing", async () => {
  const answers: (() => void)[] = []
  const { marks, told, shown } = readMarks(() => new Promise<void>((resolve) => void answers.push(resolve)))
  marks.mark("a", 1)
  await vi.advanceTimersByTimeAsync(2_000)
  marks.mark("a", 2)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(told).toEqual(["a 1"])
  answers[0]?.()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(told).toEqual(["a 1", "a 2"])
  marks.mark("b", 9)
  marks.forget()
  await vi.advanceTimersByTimeAsync(10_000)
  expect([shown("a"), shown("b"), told]).toEqual([undefined, undefined, ["a 1", "a 2"]])
})

it("[S-100] marks that wait behind one on its way are not told once their person is gone", async () => {
  const answers: (() => void)[] = []
  const { marks, told } = readMarks(() => new Promise<void>((resolve) => void answers.push(resolve)))
  marks.mark("a", 1)
  marks.mark("b", 9)
  await vi.advanceTimersByTimeAsync(2_000)
  marks.forget()
  marks.mark("c", 3)
  answers[0]?.()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(told).toEqual(["a 1", "c 3"])
})
