import { createInterface } from "node:readline"
import type { CommandContext } from "../base/command-context.ts"

/** What was typed before the question was there is not an answer to it. */
const TYPED_AHEAD_MS = 150

export interface LineOptions {
  /** Aborts the question: nobody waits for the answer any more. */
  readonly signal?: AbortSignal
  /** What stands there already, to be changed. */
  readonly prefill?: string
}

/** Asks for a line at the terminal. Undefined: the question was given up, by Ctrl-C, Ctrl-D or its signal. */
export class TerminalLines {
  readonly #context: CommandContext
  readonly #onInterrupt: () => void
  #waiting = ""

  constructor(context: CommandContext, onInterrupt: () => void) {
    this.#context = context
    this.#onInterrupt = onInterrupt
  }

  /** Whether anybody is there to be asked. */
  get hasPerson(): boolean {
    const { stdin, stderr } = this.#context
    return stdin.isTTY && stderr.isTTY
  }

  /** Shown together with the next question: whoever sees it can answer. */
  write(text: string): void {
    this.#waiting += text
  }

  async ask(question: string, options: LineOptions = {}): Promise<string | undefined> {
    await this.#dropTypedAhead()
    const { stdin, stderr } = this.#context
    if (options.signal?.aborted === true) return undefined
    stderr.write(this.#waiting)
    this.#waiting = ""
    const line = createInterface({ input: stdin, output: stderr, terminal: true })
    return new Promise((resolve) => {
      const end = (answer: string | undefined) => {
        options.signal?.removeEventListener("abort", giveUp)
        resolve(answer)
        line.close()
      }
      const giveUp = () => end(undefined)
      options.signal?.addEventListener("abort", giveUp)
      line.once("close", giveUp)
      line.once("SIGINT", () => {
        end(undefined)
        this.#onInterrupt()
      })
      line.question(question, end)
      if (options.prefill !== undefined) line.write(options.prefill)
    })
  }

  async #dropTypedAhead(): Promise<void> {
    const { stdin } = this.#context
    const drop = () => undefined
    stdin.on("data", drop)
    stdin.resume()
    await new Promise((resolve) => setTimeout(resolve, TYPED_AHEAD_MS))
    stdin.off("data", drop)
    stdin.pause()
  }
}
