import { execFile } from "node:child_process"
import { stat } from "node:fs/promises"
import { promisify } from "node:util"

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
