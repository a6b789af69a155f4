import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Worth a collection, which takes some 20 ms. */
const GARBAGE_BYTES = 2 * 1024 * 1024

/**
 * Keeps the heap of a process that lives for weeks, and has little that does, small: left to itself it grows with the busiest moment
 * it has seen, by 40 MB and more, and gives nothing back. Called now and then, when there is time.
 */
export function smallHeap(): () => void {
  setFlagsFromString("--semi-space-growth-factor=1")
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("gc")
  let usedBytes = 0
  return () => {
    if (typeof collect !== "function" || process.memoryUsage().heapUsed < usedBytes + GARBAGE_BYTES) return
    collect()
    usedBytes = process.memoryUsage().heapUsed
  }
}
