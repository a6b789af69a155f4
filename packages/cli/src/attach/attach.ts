import { type CommandContext, type DataOption, nextCommand } from "../base/context.ts"
import { CliError, exitCodeOf, oneLine } from "../base/failure.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/connect.ts"
import { requireTerminal } from "../terminal/input.ts"
import { coloursFor } from "../terminal/output.ts"
import { FullScreen } from "./full-screen.ts"
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
