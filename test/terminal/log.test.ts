import { pathToFileURL } from "node:url"
import { afterEach, describe, expect, it } from "vitest"
import { SIGNALBOX, Terminal, tmux } from "./terminal.ts"

const LOGGER = new URL("../../hub/dist/operations/logger.js", pathToFileURL(SIGNALBOX)).href

let terminal: Terminal | undefined
afterEach(() => terminal?.close())

describe.skipIf(tmux === undefined)("what hub and runner log, in a terminal", () => {
  it("[HA59] an error is one plain line with its cause, and no stack", async () => {
    const script = `import(${JSON.stringify(LOGGER)}).then(({ createLogger }) => {
      createLogger().error({ err: new Error("no room") }, "the store cannot be written")
    })`
    terminal = await Terminal.open({ width: 80, height: 24, command: [process.execPath, "-e", script] })
    const screen = await terminal.shows("exit code 0")
    expect(screen).toMatch(/^before\n\d\d:\d\d:\d\d error: the store cannot be written: no room\nexit code 0/)
  })
})
