import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { drained, endOf } from "./stream-end.ts"

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
