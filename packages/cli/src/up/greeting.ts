import { spawn } from "node:child_process"
import { homedir } from "node:os"
import type { Hub } from "@signalbox/hub"
import { findClaude } from "@signalbox/transport/find-claude"
import type { CommandContext, DataDirectory } from "../base/context.ts"
import { coloursFor } from "../terminal/output.ts"
import type { UpOptions } from "./up.ts"

interface Greeting {
  readonly hub: Hub
  readonly options: UpOptions
  readonly data: DataDirectory
  /** The address of its database, without a password; undefined for a file in the data directory. */
  readonly store: string | undefined
  readonly context: CommandContext
  readonly login: string
  /** Whether a browser opens. */
  readonly opens: boolean
}

/** As people write it. */
function inHome(path: string): string {
  const home = homedir()
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** Five lines, most of which fit a terminal of eighty columns: what happened, where everything is, and what to type next. */
export function greet(greeting: Greeting): void {
  const { hub, options, data, store, context, login, opens } = greeting
  const { bold, dim } = coloursFor(context.stderr, context.env)
  const { url, moved } = hub.address
  const runner = options.runner ? ", with a runner" : ", without a runner"
  const log = options.runner ? " (the runner's log: runner.log)" : ""
  context.stderr.write(
    [
      `${bold(`Hub running at ${url}`)}${moved ? " (8765 was taken)" : ""}${runner}. Ctrl-C stops it.`,
      `Data: ${store === undefined ? "" : `${store}, and `}${inHome(data.path)}${log}`,
      `${opens ? "Cockpit (opening in your browser):" : "Cockpit:"} ${login} ${dim("(valid for one minute)")}`,
      ...firstSteps(greeting).map(([lead, command]) => `${lead} ${bold(command)}`),
      "",
    ].join("\n"),
  )
}

/** The commands to type in another terminal. Without a `claude` the simulator comes first: it needs nothing. */
function firstSteps({ options, data, context }: Greeting): [lead: string, command: string][] {
  const { env } = context
  // After `npm start` or `npx` there is no signalbox on the PATH.
  const command = env["npm_command"] === undefined ? "signalbox" : "npx signalbox"
  const named = options.data === undefined ? "" : ` --data ${data.path}`
  if (!options.runner) {
    return [
      ["Connect an external agent:", `${command} new${named} --agent external`],
      ["Watch its requests:", `${command} asks${named} --watch`],
    ]
  }
  const start = `${command} new${named}`
  const simulated = `${start} --agent simulator --prompt "permission please" --attach`
  if (!hasClaude(env)) {
    return [
      ["Try:", simulated],
      ["Claude Code not found. Install it:", "npm install -g @anthropic-ai/claude-code"],
    ]
  }
  return [
    ["Start an agent:", `${start} --prompt "What is in this folder?" --attach`],
    ["Or a simulated one:", simulated],
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

type Opener = readonly [command: string, ...args: string[]]

/** The command that opens a page; undefined where nobody would see it. */
export function browserOpener(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Opener | undefined {
  // Over SSH the browser would open on a screen at the other end.
  if (isSet(env["SSH_CONNECTION"]) || isSet(env["CI"])) return undefined
  if (platform === "darwin") return ["open"]
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"]
  return isSet(env["DISPLAY"]) || isSet(env["WAYLAND_DISPLAY"]) ? ["xdg-open"] : undefined
}

/** If it fails, the address is still in the greeting. */
export function openBrowser(url: string, [command, ...args]: Opener, env: NodeJS.ProcessEnv): void {
  const child = spawn(command, [...args, url], { detached: true, stdio: "ignore", env })
  child.on("error", () => undefined)
  child.unref()
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ""
}
