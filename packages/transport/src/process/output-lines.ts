import type { Readable } from "node:stream"
import { createLineSplitter, type LineSplitter } from "@signalbox/protocol/framing"
import { LineQueue } from "../line-queue.ts"
import type { ChildSettings } from "./child-options.ts"
import { drained, endOf } from "./stream-end.ts"

/** What a pipe still holds after its writer is gone is far less; only a writer that lives on could bring more. */
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
