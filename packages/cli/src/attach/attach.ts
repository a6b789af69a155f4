import type { Hub, Session } from "@signalbox/client"
import type { CommandContext } from "../command-context.ts"
import type { DataOption } from "../data-directory.ts"
import { CliError } from "../failure.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/with-hub.ts"
import { coloursFor } from "../terminal/colours.ts"
import { requireTerminal } from "../terminal/require-terminal.ts"
import { FullScreen } from "./full-screen.ts"
import { SessionFeed } from "./session-feed.ts"

const MAX_FPS = 20

export async function attach(id: string, options: DataOption, context: CommandContext): Promise<void> {
  requireTerminal(context, id)
  return withHub(options, context, async (hub) => view(hub, await findSession(hub, id), context))
}

async function view(hub: Hub, session: Session, context: CommandContext): Promise<void> {
  const { openView } = await import("./open-view.tsx")
  const feed = new SessionFeed(hub, session)
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
  const { ending } = feed.state()
  if (ending !== undefined) throw new CliError("cli/failed", `the view was cut off: ${ending}`)
}
