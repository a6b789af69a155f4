import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { createLineSplitter, type LineSplitter } from "@signalbox/protocol/framing"
import { LineQueue } from "../line-queue.ts"
import type { ChildSettings } from "./child-process.ts"

/** A pipe whose writer is gone still holds far less; only a writer that lives on could bring more. */
const MAX_DRAINED_BYTES = 8 * 1024 * 1024

type OutputSettings = Pick<ChildSettings, "highWaterChars" | "maxLineBytes" | "onDroppedLine">

type Phase =
  | { readonly name: "flowing" }
  /** The process is gone: the rest is read whether or not anybody takes the lines, so that its end is reached. */
  | { readonly name: "draining"; bytes: number }
  | { readonly name: "stopped" }

/** A process's standard output, as lines. Reads no further than the lines' reader keeps up. */
export class OutputLines {
  readonly lines: LineQueue
  readonly #stdout: Readable
  readonly #splitter: LineSplitter
  readonly #end: Promise<void>
  #phase: Phase = { name: "flowing" }

  constructor(stdout: Readable, { highWaterChars, maxLineBytes, onDroppedLine }: OutputSettings) {
    this.#stdout = stdout
    this.#splitter = createLineSplitter({ maxLineBytes, onDropped: onDroppedLine })
    this.lines = new LineQueue({ highWaterChars, onRoom: () => stdout.resume() })
    this.#end = endOf(stdout)
    stdout.on("data", (chunk: Uint8Array | string) => this.#take(chunk))
    void this.#end.then(() => this.#stop())
  }

  /** The process is gone. Resolves when its output has been read, or another process has held it open for this long. */
  async drain(maxMs: number): Promise<void> {
    if (this.#phase.name !== "flowing") return
    this.#phase = { name: "draining", bytes: 0 }
    this.#stdout.resume()
    await drained(this.#end, maxMs)
    this.#stop()
  }

  #take(chunk: Uint8Array | string): void {
    if (this.#phase.name === "stopped") return
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk
    const lines = this.#splitter.push(bytes)
    const hasRoom = lines.length === 0 || this.lines.push(lines)
    if (this.#phase.name === "draining") {
      this.#phase.bytes += bytes.length
      if (this.#phase.bytes > MAX_DRAINED_BYTES) this.#stop()
    } else if (!hasRoom) {
      this.#stdout.pause()
    }
  }

  #stop(): void {
    if (this.#phase.name === "stopped") return
    this.#phase = { name: "stopped" }
    this.lines.push(this.#splitter.end())
    this.lines.end()
    this.#stdout.destroy()
  }
}

const KEPT_CHARS = 64 * 1024

/** A process's standard error: always read, so that the process never blocks on it, and its end remembered. */
export class StderrTail {
  readonly #stream: Readable | undefined
  readonly #end: Promise<void>
  #text = ""

  constructor(stream: Readable | null | undefined, onText: (text: string) => void) {
    this.#stream = stream ?? undefined
    this.#end = this.#stream === undefined ? Promise.resolve() : endOf(this.#stream)
    const decoder = new StringDecoder("utf8")
    this.#stream?.on("data", (chunk: Buffer | string) => {
      const text = typeof chunk === "string" ? chunk : decoder.write(chunk)
      if (text === "") return
      this.#text += text
      // Cut at twice the bound, so that each character is copied about once.
      if (this.#text.length > 2 * KEPT_CHARS) this.#text = lastChars(this.#text, KEPT_CHARS)
      onText(text)
    })
  }

  /** The last of it, at most 64 Ki characters. */
  get text(): string {
    return lastChars(this.#text, KEPT_CHARS)
  }

  /** The process is gone: resolves when everything was read, or another process has held the stream open for this long. */
  async drain(maxMs: number): Promise<void> {
    await drained(this.#end, maxMs)
    this.#stream?.destroy()
  }
}

export function lastChars(text: string, count: number): string {
  if (text.length <= count) return text
  const tail = text.slice(-count)
  // Half of a character that was cut in two is no character.
  return /^[\uDC00-\uDFFF]/.test(tail) ? tail.slice(1) : tail
}

/** Resolves when nothing more will be read, however that came about. */
function endOf(stream: Readable): Promise<void> {
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
async function drained(end: Promise<void>, ms: number): Promise<void> {
  if (await settlesWithin(end, ms)) return
  for (let round = 0; round < 2; round++) await new Promise((resolve) => setImmediate(resolve))
}
