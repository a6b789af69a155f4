import { execFile } from "node:child_process"
import { mkdir, realpath, writeFile } from "node:fs/promises"
import { join, sep } from "node:path"
import { promisify } from "node:util"
import type { FolderChanges } from "@signalbox/protocol/runner-wire"
import { claudeProcessEnvironment } from "@signalbox/transport/process"
import { isInRepository } from "./branch.ts"

const run = promisify(execFile)
const DEFAULT_TIMEOUT_MS = 5_000
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024

export interface ChangeReaderOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Ours alone: an empty git folder is made in it. */
  readonly stateDirectory: string
  /** Of one question to git. */
  readonly timeoutMs?: number
}

/**
 * Counts the uncommitted changes of folders, one folder at a time. An agent can write a repository's settings, and git runs
 * programs that they name (filters, fsmonitor, external diffs): the repository's own settings are never in force while its files
 * are compared. Git is given an empty folder of ours as the repository, and from the real one only the index and the objects.
 */
export class ChangeReader {
  readonly #env: NodeJS.ProcessEnv
  readonly #emptyGit: string
  readonly #timeoutMs: number
  #ready: Promise<void> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor({ env, stateDirectory, timeoutMs = DEFAULT_TIMEOUT_MS }: ChangeReaderOptions) {
    this.#timeoutMs = timeoutMs
    const plain = Object.entries(claudeProcessEnvironment(env)).filter(([name]) => !name.startsWith("GIT_"))
    this.#env = { ...Object.fromEntries(plain), ...QUIET }
    this.#emptyGit = join(stateDirectory, "empty.git")
  }

  /** Undefined where nobody can tell: no repository, no commit, no git, or it takes too long. Never rejects. */
  read(folder: string): Promise<FolderChanges | undefined> {
    const reading = this.#last.then(() => this.#read(folder)).catch(() => undefined)
    this.#last = reading
    return reading
  }

  async #read(folder: string): Promise<FolderChanges | undefined> {
    if (!isInRepository(folder)) return undefined
    const place = await realpath(folder)
    const said = await this.#git(place, ["rev-parse", "--path-format=absolute", ...PLACES, "HEAD"])
    const [top, index, objects, exclude, commit, more] = said.trimEnd().split("\n")
    if (top === undefined || index === undefined || objects === undefined || exclude === undefined) return undefined
    if (commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit) || more !== undefined) return undefined
    // The repository's settings can name any folder as its own.
    if (place !== top && !place.startsWith(`${top}${sep}`)) return undefined
    await (this.#ready ??= this.#makeEmptyGit())
    const env = {
      GIT_DIR: this.#emptyGit,
      GIT_WORK_TREE: top,
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_CONFIG_GLOBAL: "/dev/null",
    }
    const changed = await this.#git(top, [...DIFF, commit, "--"], env)
    const untracked = await this.#git(top, ["-c", `core.excludesFile=${exclude}`, ...UNTRACKED], env)
    return countChanges(changed, untracked)
  }

  async #git(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const limits = { timeout: this.#timeoutMs, killSignal: "SIGKILL", maxBuffer: MAX_OUTPUT_BYTES } as const
    return (await run("git", [...SAFE, ...args], { ...limits, cwd, env: { ...this.#env, ...env } })).stdout
  }

  async #makeEmptyGit(): Promise<void> {
    for (const part of ["objects", "refs"]) await mkdir(join(this.#emptyGit, part), { recursive: true, mode: 0o700 })
    await writeFile(join(this.#emptyGit, "HEAD"), "ref: refs/heads/none\n")
  }
}

const QUIET = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
}
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-pager"]
const PLACES = ["--show-toplevel", "--git-path", "index", "--git-path", "objects", "--git-path", "info/exclude"]
/** A submodule's own settings would be in force in it. */
const DIFF = ["diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"]
const UNTRACKED = ["ls-files", "--others", "--exclude-standard", "-z"]

/** From `diff --numstat -z` and `ls-files -z`. A binary file has no lines; those of new files are not counted. */
export function countChanges(numstat: string, untracked: string): FolderChanges {
  const changed = numstat.split("\0").filter((entry) => entry !== "")
  let [added, removed] = [0, 0]
  for (const entry of changed) {
    const [plus = "", minus = ""] = entry.split("\t", 2)
    added += Number.parseInt(plus, 10) || 0
    removed += Number.parseInt(minus, 10) || 0
  }
  const files = changed.length + untracked.split("\0").filter((name) => name !== "").length
  return { files, added, removed }
}
