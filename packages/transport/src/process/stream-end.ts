import type { Readable } from "node:stream"

/** Resolves when nothing more will be read, however that came about. */
export function endOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.readableEnded || stream.destroyed) resolve()
    for (const event of ["end", "close", "error"]) stream.on(event, () => resolve())
  })
}

/** Whether the promise settled in time. Leaves no timer behind. */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Waits for the end of a stream whose writer is gone. What the writer left is in the pipe already, so the bound is only
 * ever reached when another process holds the pipe open; but a busy event loop may come to the timer before it came to
 * the pipe, hence the two rounds of reading after it.
 */
export async function drained(end: Promise<void>, ms: number): Promise<void> {
  if (await settlesWithin(end, ms)) return
  for (let round = 0; round < 2; round++) await new Promise((resolve) => setImmediate(resolve))
}
