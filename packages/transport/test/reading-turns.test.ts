import { describe, expect, it } from "vitest"
import { LineQueue, ReadingTurns } from "../src/index.ts"

const MANY = Array.from({ length: 50_000 }, (_, n) => `{"n":${n}}`)
/** More lines than one turn of the event loop gives out. */
const TURN_LINES = 512

async function turnsPass(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** The lines that several readers read, in their order; settles when all queues have ended. */
function readAll(queues: readonly LineQueue[]) {
  const turns = new ReadingTurns()
  const read: { readonly from: number; readonly line: string }[] = []
  const reading = queues.map(async (queue, from) => {
    for await (const share of turns.shares(queue)) for (const line of share) read.push({ from, line })
  })
  const linesOf = (from: number) => read.filter((each) => each.from === from).map(({ line }) => line)
  return { read, linesOf, over: Promise.all(reading) }
}

describe("readers that take turns", () => {
  it("[T13] a line of one waits for a turn of another that floods, not for its flood; all arrive, in order", async () => {
    const [loud, quiet] = [new LineQueue(), new LineQueue()]
    const { read, linesOf, over } = readAll([loud, quiet])
    loud.push(MANY)
    await turnsPass(5)
    const before = read.length
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(6 * TURN_LINES)
    quiet.push(["hello"])
    loud.end()
    quiet.end()
    await over
    expect(read.findIndex(({ from }) => from === 1) - before).toBeLessThan(TURN_LINES)
    expect(linesOf(0)).toEqual(MANY)
    expect(linesOf(1)).toEqual(["hello"])
  })

  it("[T13] those that flood get the same, whether their lines came one by one or at once", async () => {
    const queues = Array.from({ length: 10 }, () => new LineQueue())
    const { read, linesOf, over } = readAll(queues)
    for (const [index, queue] of queues.entries()) {
      const lines = MANY.slice(0, 5_000)
      if (index % 2 === 0) queue.push(lines)
      else for (const line of lines) queue.push([line])
      queue.end()
    }
    await turnsPass(40)
    const counts = queues.map((_, from) => linesOf(from).length)
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThan(TURN_LINES)
    expect(read.length).toBeLessThan(41 * TURN_LINES)
    await over
    for (const from of queues.keys()) expect(linesOf(from)).toEqual(MANY.slice(0, 5_000))
  })

  it("[T13] long lines count for more: of a megabyte each, one is read in a turn", async () => {
    const queue = new LineQueue()
    const { read, over } = readAll([queue])
    queue.push(Array.from({ length: 10 }, () => "x".repeat(1024 * 1024)))
    queue.end()
    await turnsPass(3)
    expect(read.length).toBeLessThanOrEqual(4)
    await over
    expect(read).toHaveLength(10)
  })

  it("[T13] who reads a megabyte waits for seven more turns, in which others read", async () => {
    const [long, short] = [new LineQueue(), new LineQueue()]
    const { read, linesOf, over } = readAll([long, short])
    long.push(Array.from({ length: 20 }, () => "x".repeat(1024 * 1024)))
    short.push(MANY)
    long.end()
    short.end()
    await over
    const places = read.flatMap(({ from }, place) => (from === 0 ? [place] : []))
    const between = places.slice(1, 6).map((place, index) => place - (places.at(index) ?? 0))
    // The other reads a share, of 64 lines, in each of those turns.
    expect(Math.min(...between)).toBeGreaterThan(7 * 64)
    expect(linesOf(0)).toHaveLength(20)
    expect(linesOf(1)).toEqual(MANY)
  })

  it("[T8] a reader that stops early holds up nothing", async () => {
    const turns = new ReadingTurns()
    const queue = new LineQueue({ highWaterChars: 10 })
    expect(queue.push(["x".repeat(100)])).toBe(false)
    for await (const share of turns.shares(queue)) {
      expect(share).toHaveLength(1)
      break
    }
    expect(queue.push(["x".repeat(100)])).toBe(true)
  })
})
