import type { Readable, Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import type { Closed, Transport } from "@signalbox/transport"

const FLUSH_AT_CHARS = 256 * 1024

/** For every line that need not wait. */
const TAKEN = Promise.resolve()

/**
 * This process's own stdin and stdout. Unlike every other transport it hands on blank lines, because the oldest CLI dies
 * of one, and goes on sending when its input has ended, because an agent finishes its turn.
 */
export class StdioTransport implements Transport {
  readonly lines: AsyncIterable<string>
  readonly closed: Promise<Closed>
  readonly #output: Writable
  #settle: (closed: Closed) => void = () => undefined
  #pending: string[] = []
  #pendingChars = 0
  #flushing: Promise<void> | undefined
  #isBroken = false

  constructor(input: Readable, output: Writable) {
    this.#output = output
    this.lines = linesOf(input)
    this.closed = new Promise((resolve) => {
      this.#settle = resolve
    })
    // A host that is gone closes the pipe; the agent goes on without anybody to hear it.
    output.on("error", () => {
      this.#isBroken = true
      this.#settle({ by: "peer", reason: "stdout is closed" })
    })
  }

  send(line: string): Promise<void> {
    this.#pending.push(line)
    this.#pendingChars += line.length
    this.#flushing ??= this.#flushSoon()
    return this.#pendingChars > FLUSH_AT_CHARS ? this.#flushing : TAKEN
  }

  async close(reason = "closed"): Promise<void> {
    await this.flushed()
    this.#settle({ by: "us", reason })
  }

  async flushed(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing
  }

  /** Lines of one tick go out in one write. */
  async #flushSoon(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    const text = `${this.#pending.join("\n")}\n`
    this.#pending = []
    this.#pendingChars = 0
    if (!this.#isBroken) await new Promise<void>((resolve) => this.#output.write(text, () => resolve()))
    this.#flushing = this.#pending.length > 0 ? this.#flushSoon() : undefined
  }
}

async function* linesOf(input: Readable): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8")
  let pieces: string[] = []
  for await (const chunk of input) {
    const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk))
    const parts = text.split("\n")
    const last = parts.pop() ?? ""
    for (const part of parts) {
      yield [...pieces, part].join("")
      pieces = []
    }
    if (last !== "") pieces.push(last)
  }
  const rest = pieces.join("")
  if (rest !== "") yield rest
}
