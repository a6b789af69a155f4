import { execFile } from "node:child_process"
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs"
import { mkdir, realpath, writeFile } from "node:fs/promises"
import { dirname, join, resolve, sep } from "node:path"
import { promisify } from "node:util"
import type { FolderChanges } from "@signalbox/protocol/runner-wire"
import type { Clock } from "@signalbox/transport"
import { claudeProcessEnvironment } from "@signalbox/transport/process"

const HEAD = "ref: refs/heads/"
/** Reftables keep the branch elsewhere, and say this here. */
const NOT_HERE = ".invalid"
const MAX_BYTES = 4096
const MAX_DEPTH = 128

/**
 * The branch that a folder is on; empty when it is on none; undefined when that cannot be told. Read from git's own file, as a
 * process for each question would take longer than the rule that wants to know. An agent can write these files: nothing in
 * them may hold up the runner.
 */
export function branchOf(folder: string): string | undefined {
  const found = repositoryOf(folder)
  return found === "none" ? "" : branchIn(found?.git)
}

/** Whether git would find a repository here. */
function isInRepository(folder: string): boolean {
  const found = repositoryOf(folder)
  return found !== "none" && found?.git !== undefined
}

/** Undefined when it cannot be told. */
function repositoryOf(folder: string): { readonly git: string | undefined } | "none" | undefined {
  let place = resolve(folder)
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const git = join(place, ".git")
    const kind = kindOf(git)
    if (kind === "other") return undefined
    if (kind === "file") return { git: linkedFolder(git, place) }
    // A folder of that name alone is no repository: git looks on above it.
    if (kind === "folder" && isRepository(git)) return { git }
    if (dirname(place) === place) return "none"
    place = dirname(place)
  }
  return undefined
}

function branchIn(git: string | undefined): string | undefined {
  const head = git === undefined ? undefined : firstLine(join(git, "HEAD"))
  if (head === undefined) return undefined
  if (!head.startsWith(HEAD)) return /^[0-9a-f]{40,64}$/.test(head) ? "" : undefined
  const branch = head.slice(HEAD.length)
  return branch === "" || branch === NOT_HERE || /[\s\p{C}]/u.test(branch) ? undefined : branch
}

function isRepository(git: string): boolean {
  return ["objects", "refs"].every((part) => kindOf(join(git, part)) !== "none")
}

/** A worktree's `.git` is a file that names the folder. */
function linkedFolder(file: string, place: string): string | undefined {
  const line = firstLine(file)
  return line?.startsWith("gitdir: ") === true ? resolve(place, line.slice("gitdir: ".length)) : undefined
}

function kindOf(path: string): "folder" | "file" | "none" | "other" {
  try {
    const found = lstatSync(path)
    if (found.isDirectory()) return "folder"
    return found.isFile() ? "file" : "other"
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT" ? "none" : "other"
  }
}

/** Undefined for what is no short file with one line: a pipe would never end, and a link is another file's. */
function firstLine(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    if (!fstatSync(file).isFile()) return undefined
    const bytes = Buffer.alloc(MAX_BYTES)
    const text = bytes.subarray(0, readSync(file, bytes, 0, MAX_BYTES, 0)).toString()
    const end = text.indexOf("\n")
    return end === -1 ? undefined : text.slice(0, end).trimEnd()
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const run = promisify(execFile)
const DEFAULT_TIMEOUT_MS = 5_000
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024

export interface ChangeReaderOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Ours alone: an empty git folder is made in it. */
  readonly stateDirectory: string
  /** For one question to git. */
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

export interface ChangeNewsOptions {
  readonly read: () => Promise<FolderChanges | undefined>
  readonly tell: (changes: FolderChanges | null) => void
  readonly clock: Clock
}

const PAUSE_MS = 3_000
/** In a large repository a look takes long: it takes no more than this part of the time. */
const SHARE = 20
/** Looks wait for each other: a folder that takes long must not silence the others for minutes. */
const MAX_PAUSE_MS = 60_000

/** When the uncommitted changes of an agent's folder are looked at, and told: not for each line of the agent, and only if they are others. */
export class ChangeNews {
  readonly #options: ChangeNewsOptions
  #state: "resting" | "looking" | "pausing" | "over" = "resting"
  #isWanted = false
  /** A hub knows of none when a process comes. */
  #told = "null"
  #cancel: () => void = () => undefined

  constructor(options: ChangeNewsOptions) {
    this.#options = options
  }

  /** They may be others by now. Looked at now, or after the pause that follows each look. */
  look(): void {
    this.#isWanted = true
    if (this.#state === "resting") void this.#look()
  }

  end(): void {
    this.#state = "over"
    this.#cancel()
  }

  async #look(): Promise<void> {
    const { read, tell, clock } = this.#options
    this.#isWanted = false
    this.#state = "looking"
    const begun = clock.now()
    const changes = (await read()) ?? null
    if (this.#isOver) return
    const text = JSON.stringify(changes)
    if (text !== this.#told) tell(changes)
    this.#told = text
    this.#state = "pausing"
    const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(PAUSE_MS, SHARE * (clock.now() - begun)))
    this.#cancel = clock.after(pauseMs, () => this.#rested(), "idle")
  }

  get #isOver(): boolean {
    return this.#state === "over"
  }

  #rested(): void {
    this.#state = "resting"
    if (this.#isWanted) void this.#look()
  }
}
