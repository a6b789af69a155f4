import { homedir } from "node:os"
import type { Hub } from "@signalbox/hub"
import { findClaude } from "@signalbox/transport/find-claude"
import type { CommandContext } from "../base/command-context.ts"
import type { DataDirectory } from "../base/data-directory.ts"
import type { UpOptions } from "../commands/up.ts"
import { coloursFor } from "../terminal/colours.ts"

interface Greeting {
  readonly hub: Hub
  readonly options: UpOptions
  readonly data: DataDirectory
  readonly context: CommandContext
  readonly login: string
  /** Whether a browser is opened with it. */
  readonly opens: boolean
}

/** As people write it. */
function inHome(path: string): string {
  const home = homedir()
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** Five lines, most of which fit a terminal of eighty columns: what happened, where everything is, and what to type next. */
export function greet(greeting: Greeting): void {
  const { hub, options, data, context, login, opens } = greeting
  const { bold, dim } = coloursFor(context.stderr, context.env)
  const { url, moved } = hub.address
  const runner = options.runner ? ", with a runner" : ", without a runner"
  const log = options.runner ? "; what the runner says, in runner.log there" : ""
  context.stderr.write(
    [
      `${bold(`The hub is up at ${url}`)}${moved ? " (8765 was taken)" : ""}${runner}. Ctrl-C stops it.`,
      `Everything is kept in ${inHome(data.path)}${log}.`,
      `${opens ? "The cockpit opens in your browser; if not:" : "The cockpit:"} ${login} ${dim("(within a minute)")}`,
      ...firstSteps(greeting).map(([lead, command]) => `${lead} ${bold(command)}`),
      "",
    ].join("\n"),
  )
}

/** What to type in another terminal. Without a `claude` the simulator comes first: it needs nothing. */
function firstSteps({ options, data, context }: Greeting): [lead: string, command: string][] {
  const { env } = context
  // Whoever came by npm has no signalbox on the PATH.
  const command = env["npm_command"] === undefined ? "signalbox" : "npx signalbox"
  const named = options.data === undefined ? "" : ` --data ${data.path}`
  if (!options.runner) {
    return [
      ["An agent that you start by hand:", `${command} new${named} --agent external`],
      ["What it asks for:", `${command} asks${named} --watch`],
    ]
  }
  const start = `${command} new${named}`
  const simulated = `${start} --agent simulator --prompt "permission please" --attach`
  if (!hasClaude(env)) {
    return [
      ["Try:", simulated],
      ["No claude was found; to get it:", "npm install -g @anthropic-ai/claude-code"],
    ]
  }
  return [
    ["A first agent:", `${start} --prompt "What is in this folder?" --attach`],
    ["Simulated:", simulated],
  ]
}

function hasClaude(env: NodeJS.ProcessEnv): boolean {
  try {
    findClaude({ env })
    return true
  } catch {
    return false
  }
}
