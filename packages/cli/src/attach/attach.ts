import { writeSync } from "node:fs"
import { type CommandContext, type DataOption, nextCommand } from "../base/context.ts"
import { CliError, exitCodeOf, oneLine } from "../base/failure.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/connect.ts"
import { requireTerminal } from "../terminal/input.ts"
import { coloursFor } from "../terminal/output.ts"
import { SessionFeed } from "./session-feed.ts"

const MAX_FPS = 20

export async function attach(id: string, options: DataOption, context: CommandContext): Promise<void> {
  requireTerminal(context, { ...options, id })
  const command = (words: string) => nextCommand(words, options, context.env)
  return withHub(options, context, async (hub) => {
    const session = await findSession(hub, id)
    await view(new SessionFeed(hub, session, command), context)
  })
}

async function view(feed: SessionFeed, context: CommandContext): Promise<void> {
  const { openView } = await import("./view.tsx")
  const screen = new FullScreen(context)
  screen.enter()
  const view = openView({ feed, colours: coloursFor(context.stdout, context.env), context, maxFps: MAX_FPS })
  const end = () => view.close()
  const signals = ["SIGTERM", "SIGHUP", "SIGINT"] as const
  for (const signal of signals) process.once(signal, end)
  const following = feed.run()
  try {
    await view.closed
  } finally {
    for (const signal of signals) process.off(signal, end)
    feed.close()
    await following
    screen.leave()
  }
  if (feed.failure !== undefined) throw cutOff(feed.failure)
}

/** Scripts see by the exit code why the view ended. */
function cutOff(failure: unknown): CliError {
  const codes = { 3: "cli/no-hub", 4: "cli/not-allowed" } as const
  const exit = exitCodeOf(failure)
  const code = exit === 3 || exit === 4 ? codes[exit] : "cli/failed"
  return new CliError(code, `disconnected: ${oneLine(failure)}`, { cause: failure })
}

/** With brackets around what is pasted. */
const ENTER = "\u001b[?1049h\u001b[H\u001b[2J\u001b[?2004h"
/** Back to the other screen, cursor shown, no paste brackets, no colours. */
const LEAVE = "\u001b[0m\u001b[?2004l\u001b[?25h\u001b[?1049l"

const STDOUT = 1

/** The terminal's other screen. However the process ends, short of SIGKILL, the terminal is left as it was. */
class FullScreen {
  readonly #context: CommandContext
  #isOpen = false
  readonly #onExit = () => this.leave()
  /** What is said on the other screen is gone with it: the terminal comes back first. */
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
