import { fileURLToPath } from "node:url"
import { defined } from "@signalbox/protocol"
import { spawnOnHub } from "@signalbox/sdk"
import { type CommandContext } from "../base/context.ts"
import { exitCodeOf, oneLine, usageError } from "../base/failure.ts"
import { printJson } from "../terminal/output.ts"
import { findHub } from "./connect.ts"

const EXECUTABLE = fileURLToPath(new URL("../../bin/signalbox-shim.mjs", import.meta.url))

/** Plays `claude` for the SDK that started it, with the agent on the hub. Ends the process. */
export async function shim(argv: readonly string[], context: CommandContext): Promise<void> {
  if (argv.length === 0) return tellPath(context)
  if (argv.length === 1 && argv[0] === "--json") return printJson(context, { path: EXECUTABLE })
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v"))
    return void context.stdout.write("signalbox shim (Claude Code)\n")
  // Otherwise a runner on this machine would take its arguments for a claude in a terminal that holds the session.
  process.title = "signalbox shim"
  const { env, stdin, stdout, stderr } = context
  const played = spawnOnHub({ ...findHub({}, context), ...choices(env) })({
    command: process.execPath,
    args: [...argv],
    cwd: process.cwd(),
    env: {},
    signal: new AbortController().signal,
  })
  const tell = (error: Error) => {
    stderr.write(`signalbox: ${oneLine(error)}\n`)
    process.exitCode = exitCodeOf(error)
  }
  played.on("error", tell)
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => played.kill(signal))
  const exited = new Promise<void>((resolve) => {
    played.on("exit", (code) => {
      process.exitCode ??= code ?? 143
      resolve()
    })
  })
  stdin.pipe(played.stdin)
  played.stdout.pipe(stdout)
  await exited
  // An open pipe must not keep the process alive.
  stdin.destroy()
}

/** An SDK passes no arguments of ours to its executable, so choices come in variables. */
function choices(env: NodeJS.ProcessEnv): { session?: string; agent?: "claude" | "simulator"; runner?: string } {
  const agent = env["SIGNALBOX_AGENT"] || undefined
  if (agent !== undefined && agent !== "claude" && agent !== "simulator")
    throw usageError(`SIGNALBOX_AGENT is ${agent}: set it to claude or simulator, or unset it`)
  const session = env["SIGNALBOX_SESSION"] || undefined
  return defined({ session, runner: env["SIGNALBOX_RUNNER"] || undefined, agent })
}

function tellPath({ stdout, stderr }: CommandContext): void {
  stdout.write(`${EXECUTABLE}\n`)
  if (stderr.isTTY) {
    stderr.write(
      "Give this path to an SDK as pathToClaudeCodeExecutable: its agents then run on the hub in ~/.signalbox, or on the one in SIGNALBOX_URL.\n",
    )
  }
}
