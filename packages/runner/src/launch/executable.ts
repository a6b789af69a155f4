import { execFile } from "node:child_process"
import { stat } from "node:fs/promises"
import { promisify } from "node:util"
import type { LaunchAgent } from "@signalbox/protocol/runner-wire"
import { claudeProcessEnvironment, findClaude, signInOf, TransportError } from "@signalbox/transport/process"
import { Refusal } from "../errors.ts"

/** What is started for an agent. */
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
