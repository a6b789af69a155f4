import { render } from "ink"
import type { CommandContext } from "../base/command-context.ts"
import type { Colours } from "../terminal/colours.ts"
import { App } from "./app.tsx"
import type { SessionFeed } from "./session-feed.ts"

interface ViewOptions {
  readonly feed: SessionFeed
  readonly colours: Colours
  readonly context: CommandContext
  readonly maxFps: number
}

export interface View {
  /** Settles when it is closed, by its user or by `close`; rejects when it failed. */
  readonly closed: Promise<void>
  close(): void
}

export function openView({ feed, colours, context, maxFps }: ViewOptions): View {
  const { stdin, stdout, stderr } = context
  const view = render(<App feed={feed} colours={colours} />, {
    stdin,
    stdout,
    stderr,
    maxFps,
    exitOnCtrlC: false,
  })
  return { closed: view.waitUntilExit().then(() => undefined), close: () => view.unmount() }
}
