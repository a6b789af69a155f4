import { Box, type Key, render, Text, useApp, useInput, useStdout } from "ink"
import { type ReactNode, useEffect, useReducer, useState, useSyncExternalStore } from "react"
import type { CommandContext } from "../base/context.ts"
import type { Colours } from "../terminal/output.ts"
import type { Size } from "./frame.ts"
import { PressReader } from "./press.ts"
import { Screen } from "./screen.ts"
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

interface AppProps {
  readonly feed: SessionFeed
  readonly colours: Colours
}

/** The view of one session. What it shows and what keys do is the screen's; this puts it on the terminal. */
function App({ feed, colours }: AppProps): ReactNode {
  const { exit } = useApp()
  const size = useSize()
  const state = useSyncExternalStore(feed.subscribe, feed.state)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const [screen] = useState(() => new Screen({ feed, colours, redraw, leave: exit }))
  const [reader] = useState(() => new PressReader())
  useInput((input: string, key: Key) => {
    for (const press of reader.read(input, key)) screen.press(press)
  })
  const lines = screen.draw(state, size)
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      {lines.map((line, index) => (
        // A line is its place on the screen and nothing else.
        // oxlint-disable-next-line react/no-array-index-key
        <Text key={index} wrap="truncate">
          {line === "" ? " " : line}
        </Text>
      ))}
    </Box>
  )
}

/** One row less than there are: a terminal that is written full to its end scrolls. */
function useSize(): Size {
  const { stdout } = useStdout()
  const measure = (): Size => ({
    columns: Math.max(20, stdout.columns ?? 80),
    rows: Math.max(5, (stdout.rows ?? 24) - 1),
  })
  const [size, setSize] = useState(measure)
  useEffect(() => {
    const onResize = () => setSize(measure())
    stdout.on("resize", onResize)
    return () => void stdout.off("resize", onResize)
  }, [stdout])
  return size
}
