import type { Writable } from "node:stream"
import { TransportError } from "../errors.ts"
import { overflowError } from "../transport.ts"

type Phase =
  | { readonly name: "open" }
  | { readonly name: "ended" }
  /** The process reads no more; `error` is what every send from now on is refused with. */
  | { readonly name: "shut"; readonly error: TransportError }

/** A process's standard input, a line at a time. */
export class InputPipe {
  readonly #stdin: Writable
  readonly #maxWaitingBytes: number
  #phase: Phase = { name: "open" }

  constructor(stdin: Writable, maxWaitingBytes: number) {
    this.#stdin = stdin
    this.#maxWaitingBytes = maxWaitingBytes
    // Stays for good: a pipe may fail long after anybody cared, and an error nobody listens to ends our own process.
    stdin.on("error", (error: Error) => this.#fail(error))
  }

  /** Resolves when the system has taken the line, so that a process that does not read makes its sender wait. */
  write(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const phase = this.#phase
      if (phase.name === "ended") return reject(new TransportError("transport/closed", "the input has been ended"))
      if (phase.name === "shut") return reject(phase.error)
      const waiting = this.#stdin.writableLength
      if (waiting > this.#maxWaitingBytes) return reject(overflowError(waiting, this.#maxWaitingBytes))
      this.#stdin.write(`${line}\n`, (error) => {
        if (error) this.#fail(error)
        // A pipe that was destroyed reports its last write as done, although nobody will read it.
        if (this.#phase.name === "shut") reject(this.#phase.error)
        else resolve()
      })
    })
  }

  /** No more lines. Those that wait are still written. */
  end(): void {
    if (this.#phase.name !== "open") return
    this.#phase = { name: "ended" }
    this.#stdin.end()
  }

  /** The process is gone: whoever waits is told why, and so is everybody after. */
  shut(error: TransportError): void {
    if (this.#phase.name !== "shut") this.#phase = { name: "shut", error }
    this.#stdin.destroy()
  }

  #fail(cause: Error): void {
    if (this.#phase.name === "shut") return
    const message = `the process reads no more input: ${cause.message}`
    this.#phase = { name: "shut", error: new TransportError("transport/closed", message, { cause }) }
  }
}
