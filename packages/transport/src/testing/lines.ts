import { TransportError } from "../errors.ts"
import type { Transport } from "../transport.ts"

/** The next lines of a transport nobody has read from yet; fewer when it ends before. */
export async function readLines(transport: Transport, count: number): Promise<string[]> {
  const iterator = transport.lines[Symbol.asyncIterator]()
  const lines: string[] = []
  while (lines.length < count) {
    const next = await iterator.next()
    if (next.done === true) break
    lines.push(next.value)
  }
  return lines
}

/** Every line up to the end of the connection. */
export function readAll(transport: Transport): Promise<string[]> {
  return readLines(transport, Number.POSITIVE_INFINITY)
}

/** Lines that are awkward to frame: multi-byte characters, escaped newlines, carriage returns, one long one. */
export function sampleLines(count: number): string[] {
  const awkward = ["é€😀", "a\nb", "\r\n", "\u2028\u2029", "x".repeat(70_000), '"quoted"', "\\"]
  return Array.from({ length: count }, (_, n) => JSON.stringify({ n, text: awkward[n % awkward.length] }))
}

export function numberedLine(n: number, fillChars: number): string {
  return JSON.stringify({ n, fill: "x".repeat(fillChars) })
}

export function codeOf(error: unknown): string {
  return error instanceof TransportError ? error.code : `not a TransportError: ${String(error)}`
}

/** Lets everything that can happen without the peer happen: a few rounds of the event loop, no clock. */
export async function settleEvents(): Promise<void> {
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve))
}
