import { writeSync } from "node:fs"
import type { CommandContext } from "../base/context.ts"
import { oneLine } from "../base/failure.ts"

/** With brackets around what is pasted. */
const ENTER = "\u001b[?1049h\u001b[H\u001b[2J\u001b[?2004h"
/** Back to the other screen, cursor shown, no paste brackets, no colours. */
const LEAVE = "\u001b[0m\u001b[?2004l\u001b[?25h\u001b[?1049l"

const STDOUT = 1

/** The terminal's other screen. However the process ends, short of SIGKILL, the terminal is left as it was. */
export class FullScreen {
  readonly #context: CommandContext
  #isOpen = false
  readonly #onExit = () => this.leave()
  /** The terminal comes back first: words on the other screen would be gone with it. */
  readonly #onCrash = (error: unknown) => {
    this.leave()
    this.#context.stderr.write(`signalbox: ${oneLine(error)}\n`)
    process.exit(1)
  }

  constructor(context: CommandContext) {
    this.#context = context
  }

  enter(): void {
    this.#isOpen = true
    process.on("exit", this.#onExit)
    process.on("uncaughtException", this.#onCrash)
    this.#context.stdout.write(ENTER)
  }

  leave(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    process.off("exit", this.#onExit)
    process.off("uncaughtException", this.#onCrash)
    const { stdin } = this.#context
    try {
      if (stdin.isTTY) stdin.setRawMode(false)
    } catch {
      // The terminal is gone: there is nothing to leave clean.
    }
    try {
      // At the exit of a process only what is written synchronously arrives.
      writeSync(STDOUT, LEAVE)
    } catch {
      // As above.
    }
  }
}
