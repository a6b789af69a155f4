import { mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { errorText, Refusal } from "../errors.ts"
import type { RunnerSettings } from "../options.ts"

/** Their JSON may hold tokens. Each of them takes the path of a file as well. */
const FLAGS: ReadonlySet<string> = new Set(["--mcp-config", "--settings"])

/**
 * Keeps tokens out of the agents' arguments, which every user of the machine can read: JSON that may hold one is in a file
 * while its agent lives.
 */
export class SecretFiles {
  readonly #folder: string
  readonly #log: RunnerSettings["log"]

  constructor({ stateDirectory, log }: Pick<RunnerSettings, "stateDirectory" | "log">) {
    // An agent reads the path from its own folder.
    this.#folder = resolve(stateDirectory, "launch")
    this.#log = log
  }

  /** The arguments, with a path in the place of such JSON. */
  async write(incarnation: string, args: readonly string[]): Promise<string[]> {
    const written: string[] = []
    let flag: string | undefined
    for (const word of args) {
      const isFlag = word.startsWith("-")
      const [name = "", inline] = isFlag ? splitFlag(word) : [flag, word]
      if (isFlag) flag = inline === undefined ? name : undefined
      const isSecret = FLAGS.has(name) && inline?.trimStart().startsWith("{") === true
      if (!isSecret) written.push(word)
      else {
        const path = await this.#write(incarnation, { name, json: inline, file: `${written.length}.json` })
        written.push(word === inline ? path : `${name}=${path}`)
      }
    }
    return written
  }

  /** A path for something of this agent's, in a folder of its own, which is there then. */
  async pathFor(incarnation: string, file: string, what: string): Promise<string> {
    const path = join(this.#folder, incarnation, file)
    try {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    } catch (cause) {
      throw unwritable(what, path, cause)
    }
    return path
  }

  /** Never throws: the next start of a runner removes what is left. */
  async remove(incarnation: string): Promise<void> {
    await this.#remove(join(this.#folder, incarnation))
  }

  /** Removes what a killed runner left. Only while no agent lives. */
  async sweep(): Promise<void> {
    await this.#remove(this.#folder)
  }

  async #write(
    incarnation: string,
    { name, json, file }: { name: string; json: string; file: string },
  ): Promise<string> {
    const what = `the value of ${name}`
    const path = await this.pathFor(incarnation, file, what)
    try {
      await writeFile(path, json, { mode: 0o600, flag: "wx" })
    } catch (cause) {
      throw unwritable(what, path, cause)
    }
    return path
  }

  async #remove(path: string): Promise<void> {
    try {
      await rm(path, { recursive: true, force: true })
    } catch (error) {
      this.#log.error({ err: error }, `${path} could not be removed; it may hold tokens`)
    }
  }
}

function unwritable(what: string, path: string, cause: unknown): Refusal {
  const message = `${what} cannot be written to ${dirname(path)} (${errorText(cause)}): free some disk space or repair that folder, then try again`
  return new Refusal("runner/spawn-failed", message, { cause })
}

function splitFlag(word: string): [name: string, inline: string | undefined] {
  const equals = word.indexOf("=")
  return equals < 0 ? [word, undefined] : [word.slice(0, equals), word.slice(equals + 1)]
}
