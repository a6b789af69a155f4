import { closeSync } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import type { Closed, Transport } from "@signalbox/transport"
import { deferred } from "@signalbox/transport/pacing"

const STDOUT = 1
/** What a pipe holds. */
const FLUSH_AT_CHARS = 64 * 1024

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
  readonly #closing = deferred<Closed>()
  #pending = ""
  #flushing: Promise<void> | undefined
  #isBroken = false
  #isHurried = false

  constructor(input: Readable, output: Writable) {
    this.#output = output
    this.lines = linesOf(input)
    this.closed = this.#closing.promise
    // A host that is gone closes the pipe; the agent goes on without anybody to hear it.
    output.on("error", () => {
      this.#isBroken = true
      this.#closing.resolve({ by: "peer", reason: "stdout is closed" })
    })
  }

  send(line: string): Promise<void> {
    // One text that grows is copied once, when it is written; a list of lines would be copied when it is joined too.
    this.#pending += `${line}\n`
    this.#flushing ??= this.#flushSoon()
    return this.#pending.length > FLUSH_AT_CHARS ? this.#flushing : TAKEN
  }

  /** Text as it is: no newline follows it. */
  async writePiece(text: string): Promise<void> {
    await this.flushed()
    if (!this.#isBroken) await new Promise<void>((resolve) => this.#output.write(text, () => resolve()))
  }

  /** The host finds our output ended; we go on, and nobody hears it. */
  async cut(): Promise<void> {
    await this.flushed()
    this.#isBroken = true
    // Node never closes its stdout by itself.
    closeSync(STDOUT)
    this.#closing.resolve({ by: "us", reason: "stdout was cut" })
  }

  /** For one that is told to go: `close` waits no longer for a host that does not read. */
  hurry(): void {
    this.#isHurried = true
  }

  async close(reason = "closed"): Promise<void> {
    if (!this.#isHurried) await this.flushed()
    this.#closing.resolve({ by: "us", reason })
  }

  async flushed(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing
  }

  /** Lines of one tick go out in one write. */
  async #flushSoon(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    const text = this.#pending
    this.#pending = ""
    if (!this.#isBroken) await new Promise<void>((resolve) => this.#output.write(text, () => resolve()))
    this.#flushing = this.#pending !== "" ? this.#flushSoon() : undefined
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
