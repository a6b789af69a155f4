import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "vitest"
import { createLinkedPair, lineBatches } from "../src/index.ts"
import { LineQueue } from "../src/line-queue.ts"

describe("lines in batches", () => {
  it("[T10] hand out every line once, in order, whatever waited", async () => {
    const [near, far] = createLinkedPair()
    const sent = Array.from({ length: 1000 }, (_, n) => `{"n":${n}}`)
    const sending = (async () => {
      for (const line of sent) await far.send(line)
      await far.close()
    })()
    const batches: (readonly string[])[] = []
    for await (const batch of lineBatches(near.lines)) batches.push(batch)
    expect(batches.flat()).toEqual(sent)
    await sending
  })

  it("[T10] are bounded as single lines are: a full queue calls for more only when it was emptied", async () => {
    let calls = 0
    const queue = new LineQueue({ highWaterChars: 10, onRoom: () => calls++ })
    expect(queue.push(["12345678", "12345678"])).toBe(false)
    const batches = lineBatches(queue)
    expect(calls).toBe(0)
    expect((await batches.next()).value).toEqual(["12345678", "12345678"])
    expect(calls).toBe(1)
  })

  it("[T8] a reader of batches that stops early holds up nothing", async () => {
    const queue = new LineQueue({ highWaterChars: 10 })
    queue.push(["one", "two"])
    for await (const batch of lineBatches(queue)) {
      expect(batch).toEqual(["one", "two"])
      break
    }
    expect(queue.push(["x".repeat(100)])).toBe(true)
  })

  it("[T8] a reader of batches that stops while it waits for lines is let go", async () => {
    const batches = lineBatches(new LineQueue())
    const waiting = batches.next()
    await batches.return?.()
    expect(await waiting).toEqual({ value: undefined, done: true })
    expect(await batches.next()).toEqual({ value: undefined, done: true })
  })

  it("[T10] other iterables are handed out one by one", async () => {
    async function* lines() {
      yield "a"
      yield "b"
    }
    const batches: (readonly string[])[] = []
    for await (const batch of lineBatches(lines())) batches.push(batch)
    expect(batches).toEqual([["a"], ["b"]])
  })
})

it("[T7] a reader that is one line behind for ever costs no memory", async () => {
  setFlagsFromString("--expose-gc")
  const collectGarbage: () => void = runInNewContext("gc")
  const queue = new LineQueue()
  const iterator = queue[Symbol.asyncIterator]()
  queue.push(["first"])
  const usedBytes = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = usedBytes()
  for (let n = 0; n < 1_000_000; n++) {
    queue.push(["next"])
    await iterator.next()
  }
  // A slot of eight bytes for each line that was read would be eight megabytes.
  expect(usedBytes() - before).toBeLessThan(2_000_000)
  expect((await iterator.next()).value).toBe("next")
})
