import { execFile } from "node:child_process"
import { stat } from "node:fs/promises"
import { promisify } from "node:util"
import type { LaunchAgent } from "@signalbox/protocol/runner-wire"
import { claudeProcessEnvironment, findClaude, signInOf, TransportError } from "@signalbox/transport/process"
import { Refusal } from "../errors.ts"

/** The program that is started for an agent. */
export function executableOf(
  agent: LaunchAgent,
  { env, simulator }: { env: Readonly<Record<string, string>>; simulator: readonly string[] | undefined },
): Executable {
  if (agent === "claude") return claude(env)
  const [command, ...args] = agent === "simulator" ? (simulator ?? []) : agent.command
  if (command === undefined) {
    throw new Refusal(
      "runner/invalid",
      "this runner has no simulator: start it by the signalbox command, which brings one",
    )
  }
  // `node script.js` is as new as the script.
  return { command, args, path: agent === "simulator" ? (args[0] ?? command) : command }
}

export function claude(env: Readonly<Record<string, string>>): Executable {
  try {
    return findClaude({ env })
  } catch (cause) {
    if (!(cause instanceof TransportError)) throw cause
    throw new Refusal("runner/no-claude", cause.message, { cause })
  }
}

const run = promisify(execFile)
const TIMEOUT_MS = 20_000
const MAX_OUTPUT_BYTES = 64 * 1024
const MAX_KNOWN = 100

export interface Executable {
  readonly command: string
  readonly args: readonly string[]
  /** The file that decides which version it is. */
  readonly path: string
}

/** Asks an executable for its version, and again only when the file has changed. */
export class ClaudeVersions {
  readonly #known = new Map<string, Promise<string | undefined>>()

  /** Undefined: it does not say one. */
  async of(executable: Executable, env: Readonly<Record<string, string>>): Promise<string | undefined> {
    const file = await stat(executable.path).catch(() => undefined)
    const key = [executable.path, ...executable.args, file?.mtimeMs, file?.size].join("\n")
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    const asked = ask(executable, env)
    this.#known.set(key, asked)
    const version = await asked
    // One that failed may have been out of memory or time; it is asked again.
    if (version === undefined) this.#known.delete(key)
    return version
  }
}

async function ask({ command, args }: Executable, env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const options = { env, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, killSignal: "SIGKILL" } as const
  const { stdout } = await run(command, [...args, "--version"], options).catch(() => ({ stdout: "" }))
  return /\d+\.\d+\.\d+/.exec(stdout)?.[0]
}

/** How agents that start now would sign in, with the environment that they get. */
export function signInFacts(env: Readonly<Record<string, string | undefined>>): { readonly signIn?: string | null } {
  const signIn = signInOf(claudeProcessEnvironment(env))
  return signIn === undefined ? {} : { signIn }
}

/**
 * Some versions (2.1.200) run a tool whose hook is open when their input ends, and every tool after it. So the input of an
 * enforced agent never ends while the agent lives: it reads a pipe that it holds open itself, which `cat` fills with what we
 * write. When we are gone, or close our end, the whole group gets TERM, after which no version was seen to run a tool, and soon
 * KILL. `cat` opens the pipe for itself (5), because the agent may set its own end (3) not to block. The agent takes the
 * shell's place, so that its pid, its signals and its exit are its own.
 */
const GUARDING = `
pipe=$1
shift
command -p mkfifo -m 600 "$pipe" && exec 3<>"$pipe" 4<&0 5>"$pipe" && command -p rm -f "$pipe" || exit 126
(
  trap "" TERM HUP INT
  command -p cat <&4 >&5
  kill -TERM 0
  left=5
  while kill -0 $$ && [ $left -gt 0 ]; do command -p sleep 1; left=$((left - 1)); done
  kill -KILL 0
) >/dev/null 2>&1 &
exec "$@" <&3 3<&- 4<&- 5>&-
`

/** `pipe`: a path that nobody else has, in a folder that there is. It is gone when the agent runs. */
export function guardedInput({ command, args }: Pick<Executable, "command" | "args">, pipe: string) {
  return { command: "/bin/sh", args: ["-c", GUARDING, "sh", pipe, command, ...args] }
}
